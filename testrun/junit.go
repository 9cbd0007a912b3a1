package testrun

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"time"
)

type xmlSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Time     string     `xml:"time,attr"`
	Suites   []xmlSuite `xml:"testsuite"`
}

type xmlSuite struct {
	Name     string    `xml:"name,attr"`
	Tests    int       `xml:"tests,attr"`
	Failures int       `xml:"failures,attr"`
	Errors   int       `xml:"errors,attr"`
	Time     string    `xml:"time,attr"`
	Cases    []xmlCase `xml:"testcase"`
	Output   string    `xml:"system-out,omitempty"`
}

type xmlCase struct {
	Name    string    `xml:"name,attr"`
	Class   string    `xml:"classname,attr"`
	Time    string    `xml:"time,attr"`
	Failure *xmlFault `xml:"failure,omitempty"`
	Error   *xmlFault `xml:"error,omitempty"`
}

type xmlFault struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// writeJUnit reports a run as the XML that build servers read: a suite a file,
// where an error outside any test is a case of its own.
func writeJUnit(path string, r *Report) error {
	passed, failed := r.Count()
	out := xmlSuites{Tests: passed + failed, Failures: failed, Time: inSeconds(r.Took)}
	for _, f := range r.Results {
		s := suiteXML(f)
		out.Errors += s.Errors
		out.Suites = append(out.Suites, s)
	}
	data, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(data, '\n')...), 0o644)
}

func suiteXML(f *Result) xmlSuite {
	s := xmlSuite{Name: f.Path, Tests: len(f.Tests), Time: inSeconds(f.Took), Output: f.Output}
	class := strings.TrimSuffix(f.Path, ".sns")
	for _, t := range f.Tests {
		c := xmlCase{Name: t.Desc, Class: class, Time: inSeconds(t.Took)}
		if t.Err != nil {
			s.Failures++
			c.Failure = &xmlFault{t.Err.Error(), strings.Join(append([]string{t.Err.Error()}, notes(t.Err, true)...), "\n")}
		}
		s.Cases = append(s.Cases, c)
	}
	if f.Err != nil {
		s.Errors, s.Tests = 1, s.Tests+1
		s.Cases = append(s.Cases, xmlCase{Name: "(outside tests)", Class: class, Time: inSeconds(0), Error: &xmlFault{f.Err.Error(), f.Err.Error()}})
	}
	return s
}
