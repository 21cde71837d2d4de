//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// sshServer serves shells on the loopback to whoever has the password, until the test ends. A shell
// says what the passwords were, and ends with the first line that it reads.
func sshServer(t *testing.T) (address *net.TCPAddr) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PasswordCallback: func(_ ssh.ConnMetadata, p []byte) (*ssh.Permissions, error) {
		if string(p) != password {
			return nil, errors.New("wrong")
		}
		return nil, nil
	}}
	config.AddHostKey(signer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		l.Close()
		stop()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer context.AfterFunc(ctx, func() { c.Close() })()
				defer c.Close()
				shell(c, config)
			})
		}
	})
	return l.Addr().(*net.TCPAddr)
}

// shell serves one connection.
func shell(c net.Conn, config *ssh.ServerConfig) {
	conn, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	defer conn.Close()
	go ssh.DiscardRequests(requests) // ends with the connection
	for n := range channels {
		ch, asked, err := n.Accept()
		if err != nil {
			return
		}
		for r := range asked {
			r.Reply(true, nil)
			if r.Type != "shell" {
				continue
			}
			fmt.Fprintf(ch, "you said %s, not %s\r\n", password, wrong)
			bufio.NewReader(ch).ReadByte()
			ch.SendRequest("exit-status", false, []byte{0, 0, 0, 0})
			ch.Close()
			return
		}
	}
}

// sshTo returns the arguments for a client that nobody has configured and that trusts the server.
func sshTo(a *net.TCPAddr) []string {
	return []string{
		"-F", "/dev/null", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "GlobalKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
		"-o", "PreferredAuthentications=password", "-o", "PubkeyAuthentication=no", "-p", fmt.Sprint(a.Port), "somebody@127.0.0.1",
	}
}
