package engine

// SecretLine is for the tests.
type SecretLine = secretLine
