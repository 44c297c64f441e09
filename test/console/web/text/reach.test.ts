import { expect, test } from "bun:test";
import { reachOf } from "../../../../src/console/web/text/reach.ts";

test.each([
  ["http://127.0.0.1:8080/v2/svc", "machine"],
  ["http://localhost:8080/", "machine"],
  ["http://node.localhost/", "machine"],
  ["http://[::1]:8080/", "machine"],
  ["http://0.0.0.0/", "machine"],
  ["http://192.168.1.7/", "network"],
  ["http://10.0.0.3/", "network"],
  ["http://172.31.255.1/", "network"],
  ["http://100.64.0.1/", "network"],
  ["http://169.254.1.1/", "network"],
  ["http://[fd00::1]/", "network"],
  ["http://[fe80::1]/", "network"],
  ["http://raspberry.local/", "network"],
  ["http://node.home.arpa/", "network"],
  ["http://svc:8080/", "network"],
  ["https://node.example.com/", "everywhere"],
  ["https://127.0.0.1.example.com/", "everywhere"],
  ["http://172.32.0.1/", "everywhere"],
  ["http://100.128.0.1/", "everywhere"],
  ["http://[2001:db8::1]/", "everywhere"],
] as const)("%s is reached from: %s", (url, reach) => {
  expect(reachOf(url)).toBe(reach);
});
