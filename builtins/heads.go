package builtins

import (
	"slices"
	"sync"

	"github.com/sense-lang/sense/eval"
)

// heads say of every builtin and of every method of String, Array and Map how it
// is called, and what it does. A ? marks what may be left out, ... what there may
// be any number of. The language reference has the same lines.
var heads = sync.OnceValue(func() map[string][2]string {
	return map[string][2]string{
		"print":           {"print(values...)", "prints the values, joined by one space, and a line end"},
		"len":             {"len(value)", "the number of elements of an Array, of keys of a Map, of code points of a String"},
		"range":           {"range(first, end?, step?)", "the Ints from first, or from 0 where only the end is given, up to but not including the end, as an Array"},
		"str":             {"str(value)", "the text that print shows"},
		"int":             {"int(value)", "an Int from a number (towards zero), a Bool or the text of a whole number"},
		"float":           {"float(value)", "a Float from a number, a Bool or the text of a number"},
		"type_of":         {"type_of(value)", "the name of the value's type"},
		"push":            {"push(array, value)", "adds the value at the end of the Array, and gives the Array"},
		"assert":          {"assert(condition, message?)", "an error, with the message, where the condition is not true"},
		"audit_log":       {"audit_log()", "the entries of the audit as lines of text"},
		"mock_model":      {"mock_model(...)", "is gone: write inference(\"mock\", ...)"},
		"verify":          {"verify(...)", "is gone: write action.verify()"},
		"approve":         {"approve(...)", "is gone: write action.approve()"},
		"rollback":        {"rollback(...)", "is gone: write action.rollback()"},
		"start":           {"start(agent)", "runs an agent until it pauses, ends or fails, and gives it; an async one runs beside"},
		"resume":          {"resume(agent, value?)", "lets a paused agent go on: its pause() gives the value"},
		"pause":           {"pause(reason?)", "in an agent: waits for resume() and gives its value"},
		"await":           {"await(future)", "waits for an async tool or agent, and gives the tool's value or the agent"},
		"send":            {"send(agent, message)", "puts a message in an agent's box"},
		"receive":         {"receive(seconds?)", "in an agent: the oldest message; nil where none came in that time"},
		"ask_human":       {"ask_human(question)", "asks the person: in an agent it pauses, elsewhere it reads a line"},
		"inference":       {"inference(provider, model?, options...)", "a model"},
		"ask":             {"ask(prompt, options...)", "asks the model of set delegation, and gives its Answer"},
		"ask_with_memory": {"ask_with_memory(prompt, memory, options...)", "asks with what the memory holds before the prompt"},
		"ask_with_tools":  {"ask_with_tools(prompt, tools, options...)", "asks a model that may call the tools"},
		"skill":           {"skill(name, description, tools)", "tools under a name and a description, for ask_with_tools"},
		"connect_mcp":     {"connect_mcp(name, command?, args?, capability?, options...)", "starts or reaches an MCP server"},
		"connect_mcp_all": {"connect_mcp_all(file?)", "connects every server of the configuration, as a Map by name"},
		"mcp_status":      {"mcp_status()", "the status of every server, as a Map by name"},
		"conversation":    {"conversation(model, options...)", "a conversation that keeps what was said"},
		"audit":           {"audit()", "the entries of the audit as Maps"},
		"min":             {"min(values...)", "the least of the values, or of the elements of one Array"},
		"max":             {"max(values...)", "the greatest of the values, or of the elements of one Array"},
		"sum":             {"sum(values, start?)", "the sum of the elements, from start or 0 on"},
		"abs":             {"abs(number)", "the number without its sign"},
		"round":           {"round(number, digits?)", "the nearest Int; with digits a number with so many decimals. Halves go to the even one"},
		"sorted":          {"sorted(values, by?)", "a new Array of the elements in order, by themselves or by what by gives for each"},
		"enumerate":       {"enumerate(values, start?)", "an Array of [number, element], from start or 0 on"},
		"zip":             {"zip(values...)", "an Array of Arrays: the first elements, the second ones, up to the shortest"},
		"any":             {"any(values)", "whether an element is true"},
		"all":             {"all(values)", "whether every element is true"},
		"input":           {"input(prompt?)", "prints the prompt and reads a line"},
		"find":            {"find(values, name)", "the element with that name, such as a tool of a server"},

		"String.upper":       {"upper()", "in capital letters"},
		"String.lower":       {"lower()", "in small letters"},
		"String.trim":        {"trim()", "without the white space at both ends"},
		"String.split":       {"split(separator?)", "the parts between the separators, or between stretches of white space"},
		"String.lines":       {"lines()", "the lines, without their ends"},
		"String.replace":     {"replace(old, new)", "with every old replaced by new"},
		"String.contains":    {"contains(text)", "whether the text occurs"},
		"String.starts_with": {"starts_with(text)", "whether it begins with the text"},
		"String.ends_with":   {"ends_with(text)", "whether it ends with the text"},
		"String.find":        {"find(text)", "where the text first occurs, -1 where it does not"},
		"String.repeat":      {"repeat(times)", "itself so many times"},
		"String.pad_left":    {"pad_left(width, fill?)", "filled up on the left to that many characters, with spaces or fill"},
		"String.pad_right":   {"pad_right(width, fill?)", "filled up on the right"},

		"Array.push":     {"push(value)", "adds an element at the end; gives the Array"},
		"Array.pop":      {"pop()", "takes the last element off and gives it"},
		"Array.insert":   {"insert(index, value)", "puts an element before the one at index; gives the Array"},
		"Array.remove":   {"remove(index)", "takes the element at index out and gives it"},
		"Array.contains": {"contains(value)", "whether an element equals the value"},
		"Array.find":     {"find(value)", "the index of the first element that equals the value, or -1"},
		"Array.join":     {"join(separator?)", "the elements as they print, with the separator between them"},
		"Array.sort":     {"sort(by?)", "puts the elements in order, by themselves or by what by gives for each; gives the Array"},
		"Array.reverse":  {"reverse()", "turns the order round; gives the Array"},
		"Array.map":      {"map(function)", "a new Array of what the function gives for each element"},
		"Array.filter":   {"filter(function)", "a new Array of the elements for which the function gives something true"},
		"Array.reduce":   {"reduce(function, start)", "start and the first element put together by the function, that and the second, and so on"},
		"Array.slice":    {"slice(first?, end?)", "a new Array of the elements from first up to but not including the end"},
		"Array.copy":     {"copy()", "a new Array of the same elements"},

		"Map.keys":   {"keys()", "the keys, as an Array"},
		"Map.values": {"values()", "the values, as an Array"},
		"Map.items":  {"items()", "an Array of [key, value]"},
		"Map.get":    {"get(key, default?)", "the value of a key; the default, or nil, where there is none"},
		"Map.has":    {"has(key)", "whether there is such a key"},
		"Map.remove": {"remove(key)", "takes a key out and gives its value; an error where there is none"},
		"Map.merge":  {"merge(other)", "a new Map of both; where both have a key, with the value of other"},
		"Map.copy":   {"copy()", "a new Map of the same keys and values"},
	}
})

// doc gives the documentation of a builtin, or of a method as "Array.push".
func doc(name string) string {
	h := heads()[name]
	return h[0] + "\n" + h[1]
}

// documented makes the values of builtins.
func documented(out map[string]eval.Value, bs []eval.Builtin) {
	for _, b := range bs {
		b.Doc, b.Leaf = doc(b.Name), slices.Contains(leaves, b.Name)
		out[b.Name] = eval.NewBuiltin(b)
	}
}
