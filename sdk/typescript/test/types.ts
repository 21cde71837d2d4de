// Uses every entry, to have its types checked in projects of several kinds.
import * as sdk from "@ptywright/sdk";
import { expect, tui, type Expectation } from "@ptywright/sdk/test";

export async function all(signal?: AbortSignal): Promise<string | undefined> {
  const client: sdk.Client = await sdk.start({ binary: undefined });
  const s: sdk.Session = await client.spawn("sh", ["-c", "true"], { env: { A: undefined }, signal });
  const m: sdk.Match = await s.wait({ text: "x", timeout: 1, signal });
  const n: sdk.Match = await s.wait(sdk.text("x").or(sdk.exited()), { since: m.next });
  const name: string | undefined = n.named["name"];
  for await (const note of client.notifications({ signal })) {
    if (note.method === "session.exited") return note.params.signal ?? name;
  }
  const e: Expectation = expect(s);
  await e.not.toShow(/x/);
  // @ts-expect-error a timeout is a number
  await s.wait({ text: "x", timeout: "1" });
  // @ts-expect-error there is no such method
  await client.call("session.no_such", {});
  // @ts-expect-error a search is for a text or an expression
  await s.call("session.search", { text: "x", regex: "y" });
  // @ts-expect-error a misspelt keyword
  await s.wait({ txet: "x" });
  void tui;
  return (await s.exit())?.code?.toFixed();
}
