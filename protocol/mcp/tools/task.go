package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/protocol"
)

// The tasks extension (SEP-2663, 2026-07-28): a call that may last returns at once as a task, which
// the client polls.
const (
	tasksExtension = "io.modelcontextprotocol/tasks"
	// taskFrom is the timeout from which a wait becomes a task, if its client knows tasks: a client
	// can wait for a shorter one directly.
	taskFrom = waitCap
	// taskTTL is how long a task is kept after its creation; a running one is kept until it has
	// ended.
	taskTTL = time.Hour
	// taskPoll is how often a client should poll.
	taskPoll = time.Second
	// maxTasks bounds the tasks that are kept, and so those that run.
	maxTasks = 256
)

// A taskStatus is a task on the wire. It is a result of its own and what tasks/get returns.
type taskStatus struct {
	sdk.ResultBase
	ResultType string          `json:"resultType"`
	TaskID     string          `json:"taskId,omitempty"`
	Status     string          `json:"status,omitempty"`
	Message    string          `json:"statusMessage,omitempty"`
	Created    *time.Time      `json:"createdAt,omitempty"`
	Updated    *time.Time      `json:"lastUpdatedAt,omitempty"`
	TTL        int64           `json:"ttlMs,omitempty"`
	Poll       int64           `json:"pollIntervalMs,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      *jsonrpc.Error  `json:"error,omitempty"`
}

// A task is one call that outlives its request.
type task struct {
	id      string
	created time.Time
	cancel  context.CancelCauseFunc

	mu sync.Mutex
	// protects the fields below
	status  string
	updated time.Time
	result  json.RawMessage
	err     *jsonrpc.Error
}

// tasks are all kept tasks.
type tasks struct {
	mu sync.Mutex
	// protects the fields below
	all []*task
}

type taskKey struct{}

// isTask reports whether a call is a task, and so may last.
func isTask(ctx context.Context) bool { return ctx.Value(taskKey{}) != nil }

// add keeps a task, and drops one that has ended when the limit is reached. It returns false when
// all of them run.
func (t *tasks) add(x *task) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.all = slices.DeleteFunc(t.all,
		func(x *task) bool { return x.over() && now.Sub(x.created) > taskTTL })
	if len(t.all) >= maxTasks {
		i := slices.IndexFunc(t.all, (*task).over)
		if i < 0 {
			return false
		}
		t.all = slices.Delete(t.all, i, i+1)
	}
	t.all = append(t.all, x)
	return true
}

func (t *tasks) find(id string) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.IndexFunc(t.all, func(x *task) bool { return x.id == id }); i >= 0 {
		return t.all[i]
	}
	return nil
}

func (x *task) over() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.status != "working"
}

// end records the result of the call. Only the first counts.
func (x *task) end(status string, result json.RawMessage, err *jsonrpc.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.status == "working" {
		x.status, x.updated, x.result, x.err = status, time.Now(), result, err
	}
}

func (x *task) wire(kind string) *taskStatus {
	x.mu.Lock()
	defer x.mu.Unlock()
	created, updated := x.created.UTC(), x.updated.UTC()
	w := &taskStatus{
		ResultType: kind, TaskID: x.id, Status: x.status, Created: &created, Updated: &updated,
		TTL: taskTTL.Milliseconds(), Poll: taskPoll.Milliseconds(), Result: x.result, Error: x.err,
	}
	if x.err != nil {
		w.Message = x.err.Message
	}
	return w
}

// knowsTasks reports whether a request's client has declared support for tasks.
func knowsTasks(s *sdk.ServerSession, meta sdk.Meta) bool {
	if given, ok := meta[sdk.MetaKeyClientCapabilities].(map[string]any); ok { // the request's own wins
		extensions, _ := given["extensions"].(map[string]any)
		_, ok = extensions[tasksExtension]
		return ok
	}
	return false
}

// addTasks adds the extension's methods, and the middleware that makes tasks of calls.
func (p *profile) addTasks(s *sdk.Server) {
	s.AddReceivingMiddleware(p.taskCalls)
	for _, method := range []struct {
		name string
		call func(x *task) *taskStatus
	}{
		{"tasks/get", func(x *task) *taskStatus { return x.wire("complete") }},
		{"tasks/update", func(*task) *taskStatus { return &taskStatus{ResultType: "complete"} }}, // our tasks never ask for anything
		{"tasks/cancel", func(x *task) *taskStatus {
			x.end("cancelled", nil, nil)
			x.cancel(protocol.ErrCancelled)
			return &taskStatus{ResultType: "complete"}
		}},
	} {
		err := sdk.AddReceivingCustomMethod(s, method.name,
			func(_ context.Context, ss *sdk.ServerSession, params *taskParams) (*taskStatus,
				error) {
				if !knowsTasks(ss, params.GetMeta()) {
					return nil, missingCapability()
				}
				x := p.tasks.find(params.TaskID)
				if x == nil {
					return nil,
						&jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
							Message: "no such task, or it has been forgotten"}
				}
				return method.call(x), nil
			})
		if err != nil {
			panic("tools: " + err.Error()) // never, unless the SDK has the name
		}
	}
}

type taskParams struct {
	sdk.ParamsBase
	TaskID string `json:"taskId"`
}

// codeMissingCapability is the modern era's code for a client that lacks what a request needs.
const codeMissingCapability = -32021

func missingCapability() error {
	data, err := json.Marshal(map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: map[string]any{}}}})
	if err != nil {
		panic("tools: " + err.Error())
	}
	return &jsonrpc.Error{Code: codeMissingCapability,
		Message: "the request does not declare the extension " + tasksExtension, Data: data}
}

// taskCalls answers calls that may last longer than a client waits with a task, if the client knows
// tasks.
func (p *profile) taskCalls(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		call, ok := req.(*sdk.CallToolRequest)
		if !ok || !lasting(call.Params) || !knowsTasks(call.Session, call.Params.Meta) {
			return next(ctx, method, req)
		}
		run, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx),
			taskKey{}, true))
		now := time.Now()
		x := &task{id: rand.Text(), created: now, updated: now, status: "working", cancel: cancel}
		if !p.tasks.add(x) {
			cancel(nil)
			return nil,
				&jsonrpc.Error{Code: jsonrpc.CodeInternalError,
					Message: "256 tasks are running: cancel one"}
		}
		stop := context.AfterFunc(p.ending, func() { cancel(protocol.ErrShutdown) })
		p.background.Go(func() {
			defer stop()
			defer cancel(nil)
			var text []byte
			err := protocol.Guard(p.Log, "a task of "+call.Params.Name, func() error {
				r, err := next(run, method, req)
				if err == nil {
					text, err = json.Marshal(r)
				}
				return err
			})
			if err != nil {
				var wire *jsonrpc.Error
				if !errors.As(err, &wire) {
					wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
				}
				x.end("failed", nil,
					&jsonrpc.Error{Code: wire.Code, Message: p.hide.String(wire.Message)})
				return
			}
			x.end("completed", text, nil)
		})
		return x.wire("task"), nil
	}
}

// lasting reports whether a call may wait longer than a client does.
func lasting(params *sdk.CallToolParamsRaw) bool {
	if params == nil || !slices.Contains([]string{"wait", "run", "adapter"}, params.Name) {
		return false
	}
	var a struct {
		Action    string `json:"action"`
		TimeoutMS int64  `json:"timeout_ms"`
	}
	if json.Unmarshal(params.Arguments, &a) != nil || a.TimeoutMS > taskCap.Milliseconds() {
		return false // the tool reports what is wrong
	}
	return time.Duration(a.TimeoutMS)*time.Millisecond > taskFrom &&
		(params.Name != "adapter" || a.Action == "wait")
}
