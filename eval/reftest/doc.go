// Package reftest checks package eval against a second evaluator that is slow
// and plain: a scope is a map with a parent, a name is looked up when it is
// used, and every value is made anew. It is written from the language's
// reference, not from eval, and shares no code with it but the syntax tree.
// Programs come from a generator that favours few names, bound in many scopes.
// All of it is test code.
package reftest
