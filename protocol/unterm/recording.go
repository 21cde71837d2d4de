package unterm

import "context"

func recordingStart(_ context.Context, s *reader, at *pane, _ params) (any, error) {
	started, err := s.journal.Start(at.session, at.number, s.dir(at))
	if err == nil {
		s.audit.add("session.recording_start", at, "start", true)
	}
	return started, err
}

// dir is the working directory of a pane, as a path; "" when unknown.
func (s *reader) dir(at *pane) string {
	process, _ := at.session.Foreground()
	return dirOf(at.session.View(), process)
}

func recordingStop(_ context.Context, s *reader, p params) (any, error) {
	number, err := p.pane() // a recording may outlive its pane
	if err != nil {
		return nil, err
	}
	stopped, err := s.journal.Stop(number)
	if err == nil {
		s.audit.add("session.recording_stop", &pane{number: number}, "stop", true)
	}
	return stopped, err
}

func recordingStatus(_ context.Context, s *reader, p params) (any, error) {
	number, err := p.pane()
	if err != nil {
		return nil, err
	}
	return s.journal.Status(number), nil
}

func recordingList(_ context.Context, s *reader, p params) (any, error) {
	project, _ := p.text("project")
	return s.journal.List(project)
}

func recordingRead(_ context.Context, s *reader, p params) (any, error) {
	id, err := p.needText("session_id", "Missing 'session_id'")
	if err != nil {
		return nil, err
	}
	return s.journal.Read(id)
}

func recordingAttachTrace(_ context.Context, s *reader, p params) (any, error) {
	number, err := p.pane()
	if err != nil {
		return nil, err
	}
	id, err := p.needText("trace_id", "Missing 'trace_id'")
	if err != nil {
		return nil, err
	}
	return s.journal.AttachTrace(number, id)
}

func exportMarkdown(_ context.Context, s *reader, at *pane, p params) (any, error) {
	path, _ := p.text("path")
	return s.journal.Export(at.session, at.number, s.dir(at), path)
}
