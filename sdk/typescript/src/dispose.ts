// Node 20.0 to 20.3 lack the symbol that `await using` looks for. This comes before the classes that
// have it.
if (!Symbol.asyncDispose) {
  Object.defineProperty(Symbol, "asyncDispose", { value: Symbol.for("Symbol.asyncDispose") });
}

export {};
