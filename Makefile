# Everything here needs Go, git and make alone; what else a target can use it
# looks for and says when it does without.
GO        ?= go
VERSION   ?= $(shell git describe --tags --match 'v*' --dirty 2>/dev/null || echo 0.1.0-dev)
CACHE     := $(CURDIR)/.cache
LINT      := $(CACHE)/bin/golangci-lint
LINT_VER  := v2.15.0
VULN      := $(CACHE)/bin/govulncheck
VULN_VER  := v1.9.0
FUZZTIME  ?= 10s
BENCHFLAGS ?=

export CGO_ENABLED = 0

.PHONY: browser build test race lint vuln fmt fmt-check tidy-check vet bench bench-test bench-short bench-startup bench-parse bench-mcp fuzz keyring soak demo golden confirm conformance real ci clean

build: ## the binary, bin/sense
	$(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/sense ./cmd/sense

test: ## all tests
	$(GO) test -timeout 10m ./...

browser: ## the console of sense inspect in a real browser
	tools/browser.sh "$(GO)"

race: ## all tests under the race detector, which needs a C compiler
	@if command -v $${CC:-cc} >/dev/null 2>&1; then \
		echo "CGO_ENABLED=1 $(GO) test -race -timeout 20m ./..."; CGO_ENABLED=1 $(GO) test -race -timeout 20m ./...; \
	elif [ "$${CI:-}" = true ]; then echo "race: no C compiler, and CI must have one" >&2; exit 1; \
	else echo "race: skipped, there is no C compiler"; fi

lint: $(LINT) ## static checks
	$(LINT) run ./...

$(LINT):
	GOBIN=$(CACHE)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VER)

vuln: $(VULN) ## known vulnerabilities that the code can reach
	$(GO) run ./internal/cmd/vulncheck $(VULN) $(CACHE)/vulndb

$(VULN):
	GOBIN=$(CACHE)/bin $(GO) install golang.org/x/vuln/cmd/govulncheck@$(VULN_VER)

vet:
	$(GO) vet ./...

fmt: ## formats the Go code
	gofmt -s -w $$(git ls-files '*.go')

fmt-check:
	@out=$$(gofmt -s -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "gofmt would change:"; echo "$$out"; exit 1; }

tidy-check: ## the module files list what the code uses, directly or not
	set -e; for d in . bench inspect/browsertest third_party/jsonschema; do (cd $$d && $(GO) mod tidy -diff); done

bench: build ## speed beside CPython, Lua and Go's interpreters
	cd bench && $(GO) run . -sense ../bin/sense $(BENCHFLAGS)

differential: ## 100,000 random programs through the reference evaluator and eval
	$(GO) test ./eval/reftest -run TestRandomPrograms -count=1 -timeout 60m -v -programs 100000

bench-test: ## the benchmark runner's own tests
	cd bench && $(GO) vet ./... && $(GO) test ./...

bench-short: build ## a few programs once beside what is installed
	cd bench && $(GO) run . -sense ../bin/sense -no-peers -n 1 -only hello,fib,sieve,strcat,member,wordcount,report,index,jsonio $(BENCHFLAGS)

bench-startup: build ## start-up of print("hello")
	cd bench && $(GO) run . -sense ../bin/sense -only hello -n 20 $(BENCHFLAGS)

bench-parse: build ## 20,000 lines parsed
	cd bench && $(GO) run . -sense ../bin/sense -only parse20k $(BENCHFLAGS)

bench-mcp: build ## what an MCP call costs beside other clients
	tools/bench-mcp.sh "$(GO)" $(BENCHFLAGS)

fuzz: ## every fuzz target for FUZZTIME
	GO="$(GO)" tools/fuzz.sh $(FUZZTIME)

keyring: ## the store of logins on a real keyring
	tools/keyring.sh "$(GO)"

soak: build ## what takes long of the safety tests: kills at any moment, random call chains, a million arguments and keys, agents under stress, the time that loops take to stop
	SENSE_KILLS=1000 $(GO) test . -run 'TestKilledAtAnyMoment' -count=1 -v -timeout 2h
	SENSE_CHAINS=100000 $(GO) test . -run 'TestPolicyChains' -count=1 -v -timeout 2h
	SENSE_ARGS=1000000 $(GO) test ./model -run 'TestCheckArgsAgainstReference' -count=1 -v -timeout 2h
	SENSE_KEYS=1000000 $(GO) test ./memory -run 'TestKeysAndValuesStayThemselves' -count=1 -v -timeout 2h
	CGO_ENABLED=1 SENSE_STRESS=10m $(GO) test -race ./eval -run 'TestAgentsUnderStress' -count=1 -v -timeout 1h
	SENSE_LOOPS=1 $(GO) test . -run 'TestLoopsStopWithinMark' -count=1 -v -timeout 1h

demo: build ## the main job, offline: a script, the built-in file server and a scripted model
	tools/demo.sh bin/sense

golden: ## records the golden outputs again; read the diff before you commit it
	$(GO) test . -run 'TestScripts|TestExamples' -update

conformance: build ## the corpus through its Python runner
	python3 testdata/conformance/run.py --sense bin/sense -j 2

confirm: build ## every script through the Python original too
	tools/confirm.sh "$(GO)"

real: ## published MCP servers, clients and the conformance suite, installed below .cache, and the figures of faults
	SENSE_REAL_SERVERS=1 $(GO) test -p 1 -run 'TestReal|TestFaultFigures' -count=1 -timeout 20m -v . ./mcp ./mcp/fileserver

ci: ## what CI runs
	.ci/run

clean:
	rm -rf bin .cache/bin
