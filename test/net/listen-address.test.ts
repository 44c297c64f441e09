import { expect, test } from "bun:test";
import { RetryableError, UserError } from "../../src/lib/failure.ts";
import { checkListenAddresses, hostAndPort, listenFault, oneFaultOf } from "../../src/net/listen-address.ts";

test("a port without permission is an error of the settings; one in use, or an address that is missing, is worth another try", () => {
  const address = { host: "203.0.113.5", port: 80, setting: "http.port" };
  const faultOf = (code: string) => listenFault(address, Object.assign(new Error(code), { code }));
  expect(faultOf("EACCES")).toBeInstanceOf(UserError);
  for (const code of ["EADDRINUSE", "EADDRNOTAVAIL"]) expect(faultOf(code)).toBeInstanceOf(RetryableError);
});

test("a port in use names another one, also at the end of the range", () => {
  const cause = Object.assign(new Error("EADDRINUSE"), { code: "EADDRINUSE" });
  const textOf = (port: number, setting: string) =>
    String(listenFault({ host: "127.0.0.1", port, setting }, cause));
  expect(textOf(8080, "--port")).toContain("--port 8090");
  expect(textOf(65_525, "--port")).toContain("--port 65535");
  expect(textOf(65_526, "--port")).toContain("--port 65516");
  expect(textOf(8080, "http.port")).toContain("SVC_HTTP_PORT=8090 before the command (http.port)");
});

test("several faults are one, worth another try only if each is", () => {
  const [busy, forbidden] = [() => new RetryableError("in use"), () => new UserError("forbidden")];
  expect(oneFaultOf([])).toBeUndefined();
  for (const faults of [[forbidden()], [busy(), forbidden()], [forbidden(), busy()]]) {
    const one = oneFaultOf(faults);
    expect(one).toBeInstanceOf(UserError);
    for (const { message } of faults) expect(one?.message).toContain(message);
  }
  expect(oneFaultOf([busy(), busy()])).toBeInstanceOf(RetryableError);
});

test("each address that cannot be listened on is named, and those that can be are free again", () => {
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  using freed = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const free = freed.port;
  freed.stop(true);
  const at = (port: number) => ({ host: "127.0.0.1", port, setting: "http.port" });
  const missing = { host: "203.0.113.5", port: free, setting: "hub.port" };
  expect(() => checkListenAddresses([at(0), at(-1), at(free)])).not.toThrow();
  expect(() => checkListenAddresses([at(free)])).not.toThrow();
  const check = () => checkListenAddresses([at(free), at(taken.port), missing]);
  expect(check).toThrow(RetryableError);
  expect(check).toThrow(`port ${taken.port} is in use`);
  expect(check).toThrow("cannot listen on 203.0.113.5");
});

test("an IPv6 address is printed in brackets, so that a client can connect to what it reads", () => {
  expect(["::", "::1", "127.0.0.1", "node.example"].map((host) => hostAndPort(host, 2283))).toEqual([
    "[::]:2283",
    "[::1]:2283",
    "127.0.0.1:2283",
    "node.example:2283",
  ]);
});
