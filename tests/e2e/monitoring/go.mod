// The Prometheus Operator, whose module contains its CustomResourceDefinitions. Nothing of it is built.
module capstan.dev/tests/e2e/monitoring

go 1.24.6

require github.com/prometheus-operator/prometheus-operator v0.85.0 // indirect
