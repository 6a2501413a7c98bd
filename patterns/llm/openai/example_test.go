package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/llm/openai"
	"patterngate/patterns/llm/prompts"
)

func ExampleClient_Ask() {
	server := llmtest.NewServer(llmtest.Content(`{"kind":"route","target":"billing","args":{}}`), llmtest.Status(401))
	defer server.Close()
	model, err := openai.New(openai.Config{BaseURL: server.URL, Model: "gpt-4.1-mini", Timeout: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	question := patterns.Question{Ask: patterns.AskRoute, Prompt: prompts.Route, JSON: json.RawMessage(`{"goal":"refund, please"}`), MaxRequests: -1}

	answer, _ := model.Ask(context.Background(), question)
	fmt.Println(answer.Text, answer.Usage.Requests)

	_, err = model.Ask(context.Background(), question)
	var fault *patterns.ModelFault
	if errors.As(err, &fault) {
		fmt.Println(fault.Reason)
	}
	// Output:
	// {"kind":"route","target":"billing","args":{}} 1
	// llm_error:auth
}
