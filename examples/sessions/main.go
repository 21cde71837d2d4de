// Command sessions runs two programs side by side, and leaves a recording of one and a picture of
// the other in a folder.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/redact"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e := engine.New(engine.Options{})
	defer e.Close(context.WithoutCancel(ctx))
	cast, err := record.NewCast(filepath.Join(dir, "server.cast"), record.CastOptions{})
	if err != nil {
		return err
	}
	server, err := e.Spawn(ctx,
		engine.Config{Program: "sh", Args: []string{"-c", "echo listening; read -r _"},
			Taps: []engine.Tap{cast}})
	if err != nil {
		return err
	}
	client, err := e.Spawn(ctx,
		engine.Config{Program: "sh",
			Args: []string{"-c", `printf 'name? '; read -r name; echo "hello $name"; read -r _`}})
	if err != nil {
		return err
	}
	up, err := server.Wait(ctx,
		matchers.Any(matchers.Text("address in use"), matchers.Text("listening"),
			matchers.Exited()))
	if err != nil {
		return err
	}
	fmt.Println("the server is", up.Match.Parts[0].Text)
	if _, err := client.Wait(ctx, matchers.Text("name?")); err != nil {
		return err
	}
	sent, err := client.Do(ctx, engine.Text("world\r"))
	if err != nil {
		return err
	}
	hello := matchers.Regexp(regexp.MustCompile(`hello (\w+)`))
	greeted, err := client.Wait(ctx, matchers.All(hello, matchers.Stable(50*time.Millisecond)),
		engine.After(sent.Sequence))
	if err != nil {
		return err
	}
	fmt.Println("the client greets the", greeted.Match.Parts[0].Capture)
	svg, err := picture.SVG(record.Mask(greeted.View.Screen, redact.Default), picture.Options{})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "client.svg"), []byte(svg), 0o600); err != nil {
		return err
	}
	var missed *engine.WaitError
	if _, err := client.Wait(ctx, matchers.Text("goodbye"), engine.Within(0)); errors.As(err,
		&missed) {
		fmt.Printf("no goodbye on %q\n", missed.View.Screen.Text())
	}
	return server.Close(ctx) // only then is the recording complete
}
