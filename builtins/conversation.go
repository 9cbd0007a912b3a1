package builtins

import (
	"fmt"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/model"
)

// Conversation is a model with the questions and answers so far.
type Conversation struct {
	m        *Model
	system   string
	messages []model.Message
}

// TypeName gives "Conversation".
func (v *Conversation) TypeName() string { return "Conversation" }

// String gives <conversation with model (n turns)>.
func (v *Conversation) String() string {
	return fmt.Sprintf("<conversation with %s (%d turns)>", v.m.name, len(v.messages)/2)
}

// OwnerName stands before a method's name in messages.
func (v *Conversation) OwnerName() string { return "conversation" }

// MemberNames lists the members.
func (v *Conversation) MemberNames() []string { return []string{"ask", "model", "messages"} }

// Method finds ask.
func (v *Conversation) Method(name string) *eval.Method {
	if name == "ask" {
		return &conversationAsk
	}
	return nil
}

var conversationAsk = eval.Method{Name: "ask", Min: 1, Max: 1, Labels: true, Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
	return o.(*Conversation).ask(c)
}}

// Attr gives the model, and the messages as an Array of Maps.
func (v *Conversation) Attr(t *eval.Thread, name string) (eval.Value, error) {
	switch name {
	case "model":
		return eval.Obj(v.m), nil
	case "messages":
		out := eval.NewArray(len(v.messages))
		for _, msg := range v.messages {
			m := eval.NewMap()
			m.Set("role", eval.String(string(msg.Role)))
			m.Set("text", eval.String(msg.Text))
			out.Push(m.Value())
		}
		return out.Value(), nil
	}
	return eval.Value{}, fail("conversation has no member '%s'", name)
}

// conversation opens a conversation with a model.
func (d *Deps) conversation(c *eval.Call) (eval.Value, error) {
	m, ok := c.Args[0].AsObject().(*Model)
	if !ok {
		return eval.Value{}, fail("conversation() expects a Model, got %s", c.Args[0].TypeName())
	}
	v := &Conversation{m: m}
	for _, l := range c.Labels {
		if l.Name != "system" {
			return eval.Value{}, fail("'conversation' does not accept labeled arguments (%s)", l.Name)
		}
		if v.system, ok = l.Value.AsString(); !ok {
			return eval.Value{}, fail("conversation()'s system option must be a String, got %s", l.Value.TypeName())
		}
	}
	return eval.Obj(v), nil
}

// ask asks with everything said so far; what fails leaves nothing behind.
func (v *Conversation) ask(c *eval.Call) (eval.Value, error) {
	o, err := readAsk(c, "conversation.ask")
	if err != nil {
		return eval.Value{}, err
	}
	p, ok := c.Args[0].AsString()
	if !ok {
		return eval.Value{}, fail("conversation.ask() expects a String prompt, got %s", c.Args[0].TypeName())
	}
	if o.system == "" {
		o.system = v.system
	}
	x := newExchange(c, v.m, o)
	question := model.Message{Role: model.RoleUser, Text: p}
	x.req.Messages = append(append([]model.Message(nil), v.messages...), question)
	answer, err := x.answer()
	if err != nil {
		return eval.Value{}, err
	}
	v.messages = append(x.req.Messages[:len(x.req.Messages):len(x.req.Messages)], x.last.Message())
	return answer, nil
}
