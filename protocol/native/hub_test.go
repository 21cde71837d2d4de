package native_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/far"
	"github.com/ptywright/ptywright/protocol/native"
)

// throughHub is the variable with which the tests of this package run against a server behind a hub.
const throughHub = "NATIVE_THROUGH_HUB"

// aHost is the name that the server has there.
const aHost = "far-1"

// TestNativeSuiteThroughTheHub runs the tests of this package a second time, against a server at another
// host: a shim puts the host before ids on their way to the hub, and takes it away on their way back.
// Left out are tests of what a hub answers by itself, and those that reach around the wire.
func TestNativeSuiteThroughTheHub(t *testing.T) {
	if os.Getenv(throughHub) != "" {
		t.Skip("this is the second time")
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^Test", "-test.skip=^("+strings.Join(ofTheServerItself, "|")+")$", "-test.timeout=9m")
	cmd.Env = append(os.Environ(), throughHub+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n"); n > 200 {
		t.Log("it says much")
	}
}

// ofTheServerItself are the tests that are left out. A hub leaves plugin.* to its own machine; the shim
// changes what the corpus, the vectors and the schema are about, and lines with members that are there
// twice; answers of 32 MiB take longer under the race detector than a host may take on a busy machine; a
// hub says that a wait has begun before its hosts have it; test.panic and the like are not in the
// model; and of requests that are sent without waiting for answers, those to a host wait for it, so that
// their answers may come in another order.
var ofTheServerItself = []string{
	"TestNativeSuiteThroughTheHub",
	"TestPluginMethods", "TestPermissions", "TestPluginQuotesNoSecret", "TestStartNamesThePluginsFault", "TestSlowPluginHoldsUpNobody", "TestCanary",
	"TestRightsAreNeverRaised", "TestResultsFitTheirSchema", "TestSchemaBoundsAreTheServers", "TestVectors", "TestCorpus", "TestFaults",
	"TestWaitManySelects", "TestWaitManyOfAPluginThatFails", "TestWaitManyBadInput", "TestWaitManyOfAClientThatIsGone",
	"TestAnswersAreBounded",
	"TestNameAndIDAreOneLine", "TestLatchedAdapterWait", "TestStartComesBeforeWhatNamesIt",
}

// behindHub returns the client's end of a connection to a hub that has a server of the dialect d as its
// only host. done ends with it.
func behindHub(t testing.TB, d protocol.Dialect) (client *net.UnixConn) {
	t.Helper()
	text, err := json.Marshal(native.Model())
	if err != nil {
		t.Fatal(err)
	}
	model, err := far.ReadModel(text)
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	e := engine.New(engine.Options{})
	hub, err := far.New(native.New(host.Over(e, nil, quiet), native.Options{}), model, []far.Host{{Name: aHost,
		Open: func(context.Context) (io.ReadWriteCloser, error) {
			ours, theirs := net.Pipe()
			go protocol.NewConn(theirs, d, protocol.Config{Log: quiet}).Serve(context.Background()) // ends with ours
			return ours, nil
		}}}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	client, shim := socketPair(t)
	toHub, server := socketPair(t)
	ended := make(chan struct{}, 3)
	go func() {
		protocol.NewConn(server, hub, protocol.Config{Log: quiet}).Serve(context.Background())
		ended <- struct{}{}
	}()
	copy := func(to, from *net.UnixConn, line func(string) string) {
		r := bufio.NewReader(from)
		for {
			text, err := r.ReadString('\n')
			if text != "" {
				io.WriteString(to, line(text))
			}
			if err != nil {
				to.CloseWrite()
				ended <- struct{}{}
				return
			}
		}
	}
	go copy(toHub, shim, there)
	go copy(shim, toHub, back)
	t.Cleanup(func() {
		client.Close()
		for range 3 {
			<-ended
		}
		shim.Close()
		toHub.Close()
		hub.Close()
		e.Close(context.Background())
	})
	return client
}

// there puts the host into a request.
func there(line string) string {
	var one map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &one) != nil {
		return line
	}
	var method string
	_ = json.Unmarshal(one["method"], &method)
	var params map[string]any
	if json.Unmarshal(one["params"], &params) != nil || params == nil {
		params = map[string]any{}
	}
	named := false
	for _, member := range []string{"session", "adapter", "recording", "prior_adapter"} {
		if id, ok := params[member].(string); ok && id != "" {
			params[member], named = aHost+"/"+id, true
		}
	}
	if since, ok := params["since"].(map[string]any); ok && method == "session.wait_many" {
		for id, at := range maps.Clone(since) {
			delete(since, id)
			since[aHost+"/"+id] = at
		}
	}
	for _, member := range []string{"sessions", "adapters"} {
		list, _ := params[member].([]any)
		for i, id := range list {
			if id, ok := id.(string); ok {
				list[i] = aHost + "/" + id
			}
		}
	}
	if !named && slices.Contains([]string{"session.create", "session.list", "session.forget", "session.record_list", "adapter.list",
		"adapter.live", "adapter.start", "adapter.resume", "server.capabilities"}, method) && one["params"] != nil {
		if _, is := params["host"]; !is {
			params["host"] = aHost
		}
	}
	if one["params"] == nil && method != "session.create" && method != "session.list" {
		return line
	}
	if one["params"] == nil {
		params["host"] = aHost
	}
	text, err := json.Marshal(params)
	if err != nil {
		return line
	}
	one["params"] = text
	if text, err = json.Marshal(one); err != nil {
		return line
	}
	return string(text) + "\n"
}

// back takes it out of an answer or a notification.
func back(line string) string { return strings.ReplaceAll(line, aHost+"/", "") }
