package proxy

import (
	"context"

	"golang.org/x/sys/windows/registry"
)

// fromSystem reads the Internet options.
func fromSystem(context.Context) found {
	k, err := registry.OpenKey(registry.CURRENT_USER,
		`Software\Microsoft\Windows\CurrentVersion\Internet Settings`, registry.QUERY_VALUE)
	if err != nil {
		return found{}
	}
	defer k.Close()
	if on, _, err := k.GetIntegerValue("ProxyEnable"); err != nil || on == 0 {
		return found{}
	}
	server, _, _ := k.GetStringValue("ProxyServer") // "" when it is not set
	override, _, _ := k.GetStringValue("ProxyOverride")
	return fromRegistry(server, override)
}
