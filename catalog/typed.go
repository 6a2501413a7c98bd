package catalog

import (
	"context"
	"fmt"
	"reflect"

	"patterngate/ijson"
)

// Typed completes a tool with a typed function. The tool's schemas are those of In and Out. Do binds the checked
// arguments strictly to In and returns Out as a decoded value. Arguments that do not bind are an error of the call.
// That does not happen after the gate's check against the input schema.
func Typed[In, Out any](t Tool, do func(ctx context.Context, in In, call Call) (Out, error)) (Tool, error) {
	var err error
	if t.Input, err = SchemaOf[In](); err != nil {
		return Tool{}, fmt.Errorf("tool %q: input: %w", t.Name, err)
	}
	if t.Output, err = SchemaOf[Out](); err != nil {
		return Tool{}, fmt.Errorf("tool %q: output: %w", t.Name, err)
	}
	name, binds, writes := t.Name, binderOf(reflect.TypeFor[In]()), writerOf(reflect.TypeFor[Out]())
	t.Do = func(ctx context.Context, call Call) (any, error) {
		in, err := bind[In](binds, call.Args)
		if err != nil {
			return nil, fmt.Errorf("%s: arguments: %w", name, err)
		}
		out, err := do(ctx, in, call)
		if err != nil {
			return nil, err
		}
		return write(writes, out)
	}
	return t, nil
}

func bind[In any](short binder, args map[string]any) (In, error) {
	var in In
	if short != nil && short(reflect.ValueOf(&in).Elem(), args) {
		return in, nil
	}
	if args == nil {
		args = map[string]any{}
	}
	var long In
	err := ijson.Bind(args, &long)
	return long, err
}

func write[Out any](short writer, out Out) (any, error) {
	if short != nil {
		if v, ok := short(reflect.ValueOf(&out).Elem()); ok {
			return v, nil
		}
	}
	return ijson.Of(out)
}
