import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connectRpc, serveRpc } from "../../src/lib/port-rpc.ts";

interface Calculator {
  add(a: number, b: number): number;
  sum(values: readonly number[]): Promise<number>;
  read(): number | undefined;
  wait(): void;
  fail(reason: unknown): void;
}

/** `expect(…).rejects` would wait without letting messages between ports through. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );

let ports: MessageChannel;
let finishWait: PromiseWithResolvers<void>;

beforeEach(() => {
  ports = new MessageChannel();
  finishWait = Promise.withResolvers();
  serveRpc<Calculator>(ports.port1, {
    add: (a, b) => a + b,
    sum: async (values) => values.reduce((sum, value) => sum + value, 0),
    read: () => undefined,
    wait: () => finishWait.promise,
    fail(reason) {
      throw reason;
    },
  });
});
afterEach(() => {
  ports.port1.close();
  ports.port2.close();
});

describe("a client over a port", () => {
  test("calls methods that return a value, a promise or nothing", async () => {
    const client = connectRpc<Calculator>(ports.port2);
    expect(await client.add(2, 3)).toBe(5);
    expect(await client.sum([1, 2, 3])).toBe(6);
    expect(await client.read()).toBeUndefined();
  });

  test("gets each result when it is available, whatever the order of the calls", async () => {
    const client = connectRpc<Calculator>(ports.port2);
    const late = client.wait().then(() => "late");
    expect(await Promise.race([late, client.add(1, 1)])).toBe(2);
    finishWait.resolve();
    expect(await late).toBe("late");
  });

  test("gets the message of an error, and nothing else of it", async () => {
    const client = connectRpc<Calculator>(ports.port2);
    expect(await failure(client.fail(new TypeError("no disk")))).toEqual(new Error("no disk"));
    expect(await failure(client.fail("a text"))).toEqual(new Error("a text"));
  });

  test("cannot call what the server's object inherits", async () => {
    const client = connectRpc<{ toString(): string; forget(): void }>(ports.port2);
    expect(await failure(client.toString())).toEqual(new Error("there is no method toString"));
    expect(await failure(client.forget())).toEqual(new Error("there is no method forget"));
  });

  test("can be returned by an async function, and then still calls", async () => {
    const client = await (async () => connectRpc<Calculator>(ports.port2))();
    expect(await client.add(2, 2)).toBe(4);
  });

  test("fails a call at its deadline", async () => {
    const options = { timeoutMs: 5, timeoutError: () => new RangeError("too late") };
    const client = connectRpc<Calculator>(ports.port2, options);
    expect(await failure(client.wait())).toEqual(new RangeError("too late"));
  });
});
