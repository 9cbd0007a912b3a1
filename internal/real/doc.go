// Package real installs the published MCP servers, clients and test suites that
// tests run against, at the versions that testdata/real pins, into .cache/real at
// the root of the repository. It is used by tests only.
package real
