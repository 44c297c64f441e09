import { expect, test } from "bun:test";
import { RetryableError, UserError } from "../../src/lib/failure.ts";
import { listenFault } from "../../src/net/listen-address.ts";

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
