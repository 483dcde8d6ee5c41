// Measures and tests the parser of Prometheus, for comparison with Capstan's.
//
//	prometheus_parser bench FILE  prints the bytes per second of tokenising and of reading with labels
//	prometheus_parser rows FILE   checks the parser with the rows that the tests of src/signals use
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

func parser(page []byte, openMetrics bool, symbols *labels.SymbolTable) textparse.Parser {
	if openMetrics {
		return textparse.NewOpenMetricsParser(page, symbols)
	}
	return textparse.NewPromParser(page, symbols, false)
}

// read reads a page to its end and returns its samples.
func read(p textparse.Parser, withLabels bool) (samples int, err error) {
	var series labels.Labels
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return samples, nil
		}
		if err != nil {
			return samples, err
		}
		if entry == textparse.EntrySeries {
			samples++
			if withLabels {
				p.Labels(&series)
			}
		}
	}
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// bench measures processor time, including garbage collection, like Capstan's benchmark.
func bench(path string, budget float64) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page = append(make([]byte, 0, len(page)+1), page...) // room for the line feed that the parser appends
	for _, withLabels := range []bool{false, true} {
		symbols := labels.NewSymbolTable()
		pages, start := 0, cpuSeconds()
		for cpuSeconds()-start < budget {
			for range 10 {
				if _, err := read(parser(page, false, symbols), withLabels); err != nil {
					return err
				}
			}
			pages += 10
		}
		name := map[bool]string{false: "tokens", true: "labels"}[withLabels]
		fmt.Printf("%s %.0f\n", name, float64(len(page)*pages)/(cpuSeconds()-start))
	}
	return nil
}

func decode(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case 'x':
			b, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
			if err != nil {
				panic(err)
			}
			out.WriteByte(byte(b))
			i += 2
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 't':
			out.WriteByte('\t')
		case '0':
			out.WriteByte(0)
		default:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

func rows(path string) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	passed, failed := 0, 0
	for _, line := range strings.Split(string(file), "\n") {
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		p := parser([]byte(decode(line[3:])), line[0] == 'O', labels.NewSymbolTable())
		_, err := read(p, true)
		if (err == nil) == (line[1] != '-') {
			passed++
			continue
		}
		failed++
		fmt.Printf("%s\n    %v\n", line, err)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(2)
	}
	return nil
}

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "rows":
		err = rows(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "bench":
		err = bench(os.Args[2], 2)
	default:
		fmt.Fprintln(os.Stderr, "usage: prometheus_parser bench FILE | rows FILE")
		os.Exit(64)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prometheus_parser:", err)
		os.Exit(1)
	}
}
