// Receives traces by the OTLP receiver of the OpenTelemetry Collector and prints each request as a line of JSON.
package main

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	must(confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"http": map[string]any{"endpoint": os.Args[1]}},
	}).Unmarshal(config))
	sink, err := consumer.NewTraces(func(_ context.Context, traces ptrace.Traces) error {
		line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
		fmt.Println(string(line))
		return err
	})
	must(err)
	settings := receiver.Settings{
		ID:                component.NewID(factory.Type()),
		TelemetrySettings: componenttest.NewNopTelemetrySettings(),
		BuildInfo:         component.NewDefaultBuildInfo(),
	}
	traces, err := factory.CreateTraces(ctx, settings, config, sink)
	must(err)
	must(traces.Start(ctx, componenttest.NewNopHost()))
	fmt.Println("ready")
	// Ends with the test that started it.
	_, _ = os.Stdin.Read(make([]byte, 1))
	must(traces.Shutdown(ctx))
}
