package native

// Notifications are all that there are.
var Notifications = notifications
