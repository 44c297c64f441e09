import { expect, test } from "bun:test";
import { RetryableError, UserError } from "../../src/lib/failure.ts";
import { listenFault } from "../../src/net/listen-address.ts";

test("a port without permission is an error of the settings; one in use, or an address that is missing, is worth another try", () => {
  const address = { host: "203.0.113.5", port: 80, setting: "http.port" };
  const faultOf = (code: string) => listenFault(address, Object.assign(new Error(code), { code }));
  expect(faultOf("EACCES")).toBeInstanceOf(UserError);
  for (const code of ["EADDRINUSE", "EADDRNOTAVAIL"]) expect(faultOf(code)).toBeInstanceOf(RetryableError);
});
