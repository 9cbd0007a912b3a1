package std

import (
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp/config"
	"github.com/sense-lang/sense/policy"
)

// The capabilities of the modules.
const (
	capRead  = "fs.read"
	capWrite = "fs.write"
	capEnv   = "env.read"
	capHTTP  = "net.http"
	capRun   = "process.run"
)

// auditKind is the kind of the modules' entries in the audit.
const auditKind = "std"

// require asks policy for a capability, at the place of the call.
func (a *args) require(capability string) error {
	at := a.Thread.Place()
	if d := at.Decide(capability); !d.Allowed {
		return a.denied(at, d, capability)
	}
	if err := at.Heed(auditKind, a.who, capability, ""); err != nil {
		return err
	}
	return a.intent(at, capability)
}

// intent writes down that something is about to be done to the world.
func (a *args) intent(at eval.Place, capability string) error {
	if capability != capWrite && capability != capRun && !strings.HasPrefix(capability, capHTTP) {
		return nil
	}
	return at.Intent(auditKind, a.who, "calling", capability)
}

// requireHost asks policy for net.http and, where a rule speaks of hosts, for
// this one.
func (a *args) requireHost(host string) error {
	at := a.Thread.Place()
	d := at.DecideTool(capHTTP, host)
	if d.Allowed {
		if err := at.Heed(auditKind, a.who, capHTTP, host); err != nil {
			return err
		}
		return a.intent(at, policy.Spell(policy.Join(capHTTP, host)))
	}
	return a.denied(at, d, at.DeniedOf(capHTTP, host))
}

func (a *args) denied(at eval.Place, d policy.Decision, capability string) error {
	return at.Denied(d, a.who, auditKind, capability, "capability '"+capability+"' denied by policy",
		a.who+" requires capability '"+capability+"', which is denied by policy")
}

// note writes an effect into the audit: what was done to what, and whether it
// worked. It gives err, or the audit's own error.
func (a *args) note(what string, err error) error {
	event, detail := "called", what
	if err != nil {
		event, detail = "failed", err.Error()
	}
	if e := a.Thread.Place().Note(a.who, auditKind, event, detail); e != nil {
		return e
	}
	return err
}

// secret tells of a value whose name says that it is one. Of a header such as
// "Bearer x" the last word is the secret.
func (l *Library) secret(name, value string) {
	if !config.SecretName(name) {
		return
	}
	l.o.Secret(value)
	if i := strings.LastIndexByte(value, ' '); i >= 0 {
		l.o.Secret(value[i+1:])
	}
}
