package tools

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
)

// resourcePrefix is in front of every resource: ptywright://sessions/ID/PART.
const resourcePrefix = "ptywright://sessions/"

// resourceParts are the resources of a session. The last two show what the tools read and
// screenshot do.
var resourceParts = []struct{ part, mime, title, about string }{
	{"screen", "text/plain", "Screen", "What a person would see now, as text."},
	{"screen.png", "image/png", "Picture of the screen",
		"What a person would see now, as a picture."},
	{"transcript", "text/plain", "Output",
		"The retained output, as plain text; with ?since=N only what came after that sequence."},
}

func (p *profile) addResources(s *sdk.Server) {
	for _, r := range resourceParts {
		template := resourcePrefix + "{id}/" + r.part
		if r.part == "transcript" {
			template += "{?since}"
		}
		s.AddResourceTemplate(&sdk.ResourceTemplate{
			Name: "session-" +
				r.part, Title: r.title, Description: r.about, MIMEType: r.mime, URITemplate: template,
		}, p.readResource)
	}
	s.AddReceivingMiddleware(p.listResources)
}

// listResources answers resources/list with the current sessions: they come and go, and are not
// registered.
func (p *profile) listResources(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		r, err := next(ctx, method, req)
		list, ok := r.(*sdk.ListResourcesResult)
		if err != nil || !ok {
			return r, err
		}
		for _, s := range p.Engine.List() {
			id := string(s.ID())
			for _, part := range resourceParts {
				list.Resources = append(list.Resources, &sdk.Resource{
					URI: resourcePrefix + id + "/" + part.part, Name: id + " " +
						part.part, Title: part.title + " of " +
						id, Description: part.about, MIMEType: part.mime,
				})
			}
		}
		return list, nil
	}
}

// resource finds the resource that a URI names.
func (p *profile) resource(uri string) (s *engine.Session, part string, query url.Values, err error) {
	u, err := url.Parse(uri)
	if err != nil || !strings.HasPrefix(uri, resourcePrefix) {
		return nil, "", nil, sdk.ResourceNotFoundError(uri)
	}
	id, part, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if !ok {
		return nil, "", nil, sdk.ResourceNotFoundError(uri)
	}
	if s, err = p.Engine.Session(engine.ID(id)); err != nil {
		return nil, "", nil, sdk.ResourceNotFoundError(uri)
	}
	for _, r := range resourceParts {
		if r.part == part {
			return s, part, u.Query(), nil
		}
	}
	return nil, "", nil, sdk.ResourceNotFoundError(uri)
}

func (p *profile) readResource(_ context.Context,
	req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	s, part, query, err := p.resource(req.Params.URI)
	if err != nil {
		return nil, err
	}
	l := p.look(s, p.hide)
	c := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: "text/plain"}
	switch part {
	case "screen":
		c.Text = l.Screen().Text()
	case "screen.png":
		c.MIMEType = "image/png"
		if c.Blob, err = picture.PNG(l.Screen(), picture.Options{Clean: l.Clean}); err != nil {
			return nil, err
		}
	case "transcript":
		since := query.Get("since")
		if since == "" {
			c.Text = l.Output(math.MaxInt)
			break
		}
		n, err := strconv.ParseUint(since, 10, 64)
		if err != nil {
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		}
		c.Text, _ = l.OutputSince(s.OffsetAt(n))
	}
	if c.Text == "" && c.Blob == nil {
		c.Text = "\n" // the SDK leaves out an empty text, and other SDKs refuse contents without one
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
}

// updateEvery is how often at most a subscriber is notified of a resource's changes: it reads the
// whole of it each time.
const updateEvery = 250 * time.Millisecond

// maxWatches bounds the subscriptions: each costs a goroutine.
const maxWatches = 256

// watches notify subscribers of changes in resources. The SDK keeps the subscribers.
type watches struct {
	profile *profile
	server  *sdk.Server

	mu sync.Mutex
	// protects the fields below
	live map[watchKey]*watch
	ends map[*sdk.ServerSession]bool // clients whose end is waited for
}

// A watch is one subscription.
type watch struct{ stop context.CancelFunc }

type watchKey struct {
	client *sdk.ServerSession
	uri    string
}

func (w *watches) subscribe(_ context.Context, req *sdk.SubscribeRequest) error {
	s, _, _, err := w.profile.resource(req.Params.URI)
	if err != nil {
		return err
	}
	key := watchKey{req.Session, req.Params.URI}
	ctx, cancel := context.WithCancel(w.profile.ending)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.live[key] != nil: // already subscribed
		cancel()
		return nil
	case len(w.live) >= maxWatches:
		cancel()
		return fmt.Errorf("%d resources are subscribed to: unsubscribe from one", maxWatches)
	case w.live == nil:
		w.live, w.ends = map[watchKey]*watch{}, map[*sdk.ServerSession]bool{}
	}
	mine := &watch{cancel}
	w.live[key] = mine
	seen := s.Sequence() // what comes after the acknowledgement is new
	w.profile.background.Go(func() {
		defer w.drop(key, mine)
		w.watch(ctx, s, req.Params.URI, seen)
	})
	if !w.ends[req.Session] {
		w.ends[req.Session] = true
		go w.end(req.Session)
	}
	return nil
}

// end waits for a client's end, which ends its subscriptions. Every client ends before the profile
// does.
func (w *watches) end(client *sdk.ServerSession) {
	_ = client.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ends, client)
	for key, x := range w.live {
		if key.client == client {
			x.stop()
		}
	}
}

func (w *watches) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	w.drop(watchKey{req.Session, req.Params.URI}, nil)
	return nil
}

// drop ends a subscription: the given one, or if that is nil the current one.
func (w *watches) drop(key watchKey, only *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.live[key]
	if x == nil || only != nil && x != only {
		return
	}
	delete(w.live, key)
	x.stop()
}

// watch sends a notification for each change of s after sequence seen, or for several together,
// until ctx ends or nothing more can change.
func (w *watches) watch(ctx context.Context, s *engine.Session, uri string, seen uint64) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		changed := s.Changed()
		v := s.View()
		if v.Sequence != seen || v.Ended {
			seen = v.Sequence
			_ = w.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}) // if the client is gone, ctx ends
			if v.Ended {
				return
			}
			pause.Reset(updateEvery)
			select {
			case <-pause.C:
				continue
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
