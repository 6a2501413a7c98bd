package bench

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// By a clock that only the runs move, many at once take as long as one: none waits for another.
func TestManyTakeAsLongAsOne(t *testing.T) {
	for _, by := range []Proposer{ByRules, ByCaller} {
		t.Run(string(by), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, err := ManyRuns(t.Context(), by, 100, 1)
				if want := 2300 * time.Millisecond; err != nil || m.One != want || m.All != want {
					t.Errorf("one took %v, all %v: %v; want %v", m.One, m.All, err, want)
				}
			})
		})
	}
}

// Faults of runs are told, not all of them.
func TestFaultsOfManyAreTold(t *testing.T) {
	_, err := measureMany(10, func(i int) error {
		if i > 0 {
			return errors.New("it broke")
		}
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), "10 at once: it broke") || strings.Count(err.Error(), "it broke") != 3 {
		t.Errorf("the error is %v, want three times that it broke", err)
	}
}

// Servers and processes of their own carry out what they are measured by.
func TestManyRunsSucceed(t *testing.T) {
	if os.Getenv("CI") != "true" {
		t.Skip("builds programs and waits for the reference's delays; runs with CI=true")
	}
	programs, err := Build(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	model, err := programs.StartModel()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ended(t, model.Close) })
	check := func(name string, measure func() (Many, error)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if m, err := measure(); err != nil || m.One < 2*time.Second || m.PeakMB < 1 {
				t.Errorf("%+v: %v; want 2.3 s for one, and memory", m, err)
			}
		})
	}
	for _, by := range []Proposer{ByRules, ByCaller} {
		check("in process by "+string(by), func() (Many, error) { return programs.ManyInProcess(by, 8) })
		for _, era := range Eras() {
			for _, sessions := range []int{1, 8} {
				check(fmt.Sprintf("over HTTP by %s %s %d", by, era, sessions), func() (Many, error) {
					return programs.ManyOverHTTP(model, era, by, 8, sessions)
				})
			}
		}
	}
	t.Run("sessions", func(t *testing.T) {
		if got, err := programs.MeasureSessions(model, 20); err != nil || got.N != 20 {
			t.Errorf("%+v: %v", got, err)
		}
	})
}

func TestServingAddress(t *testing.T) {
	for line, want := range map[string]string{
		`{"time":"x","level":"INFO","msg":"serving","transport":"http","address":"127.0.0.1:4321","tools":5}` + "\n": "127.0.0.1:4321",
		`{"level":"INFO","msg":"run ended","address":"127.0.0.1:1"}` + "\n":                                          "",
		"gc 1 @0.004s 3%: 0.01+0.6+0.02 ms clock, 4->4->2 MB, 4 MB goal, 2 P\n":                                      "",
		"": "",
	} {
		if got := servingAddress(line); got != want {
			t.Errorf("servingAddress(%q) = %q, want %q", line, got, want)
		}
	}
}

// The live heap is the last of three figures; other lines say nothing of it.
func TestLiveHeap(t *testing.T) {
	var h liveHeap
	for _, line := range []string{
		"gc 12 @3.104s 1%: 0.05+1.1+0.004 ms clock, 0.1+0.2/0.9/0.5+0.008 ms cpu, 9->10->7 MB, 9 MB goal, 1 MB stacks, 0 MB globals, 2 P\n",
		`{"msg":"9->10->8 MB, "}` + "\n", "scvg: 1->2->3 MB, \n",
	} {
		h.read(line)
	}
	if mb, n := h.mb.Load(), h.collections.Load(); mb != 7 || n != 1 {
		t.Errorf("%d MB after %d collections, want 7 after 1", mb, n)
	}
	asked := 0
	mb, err := h.measure(func() error {
		asked++
		h.read("gc 13 @3.2s 1%: 0.05+1.1+0.004 ms clock, 0.1 ms cpu, 9->10->" + strings.Repeat("4", asked) + " MB, 9 MB goal\n")
		return nil
	})
	if err != nil || mb != 444 || asked != 3 {
		t.Errorf("measured %d MB by %d requests: %v; want 444 by 3", mb, asked, err)
	}
}

func TestSpread(t *testing.T) {
	for name, tt := range map[string]struct {
		list []float64
		want Spread
	}{
		"nothing": {nil, Spread{}},
		"one":     {[]float64{2}, Spread{2, 2, 2}},
		"three":   {[]float64{3, 1, 2}, Spread{2, 1, 3}},
		"eight":   {[]float64{8, 7, 6, 5, 4, 3, 2, 1}, Spread{4.5, 3, 6}},
	} {
		if got := SpreadOf(tt.list); got != tt.want {
			t.Errorf("%s: SpreadOf = %+v, want %+v", name, got, tt.want)
		}
	}
	ours, bare := Figures{20, 30, 90}, Figures{10, 10, 10}
	if got, want := ours.To(bare), (Spread{3, 2, 9}); got != want {
		t.Errorf("To = %+v, want %+v", got, want)
	}
}

// Each side begins in its turn, and all are measured in every round.
func TestInTurn(t *testing.T) {
	var order []int
	figures, err := InTurn(3, 4, func(side int) (time.Duration, error) {
		order = append(order, side)
		return time.Duration(side), nil
	})
	want := []int{0, 1, 2, 1, 2, 0, 2, 0, 1, 0, 1, 2}
	if err != nil || len(figures) != 3 || len(figures[2]) != 4 || figures[2][3] != 2 {
		t.Fatalf("figures %v: %v", figures, err)
	}
	for i := range want {
		if order[i] != want[i] {
			t.Fatalf("measured in the order %v, want %v", order, want)
		}
	}
	fault := errors.New("it broke")
	if _, err := InTurn(2, 2, func(int) (time.Duration, error) { return 0, fault }); !errors.Is(err, fault) {
		t.Errorf("the error is %v, want %v", err, fault)
	}
}
