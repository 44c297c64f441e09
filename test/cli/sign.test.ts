import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { keccak256, recoverTypedDataAddress } from "viem";
import { signedOperations } from "../../src/api/operations.ts";
import { opFor } from "../../src/cli/client/sign.ts";
import { demoKeys } from "../../src/demo/keys.ts";
import { custodyKey, runWithoutLeak } from "./management-node.ts";
import { emptyDir, type Place, run } from "./run.ts";

const FID = 3;
const ENV = { SVC_KEY: custodyKey(FID) };

/** Runs `sign` for FID and reads the lines that it prints. */
async function sign(args: readonly string[], place: Place = {}): Promise<Record<string, string>> {
  const all = ["sign", ...args, "--fid", `${FID}`];
  const { exitCode, out, errors } = await runWithoutLeak(ENV.SVC_KEY, all, { env: ENV, ...place });
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  return Object.fromEntries(
    out
      .trimEnd()
      .split("\n")
      .map((line) => line.split(": ") as [string, string]),
  );
}

/** Recovers the address that signed the headers, by the text of the contract and another library's hash. */
async function signerOf(headers: Record<string, string>, body: Uint8Array, name = "Svc"): Promise<string> {
  const header = (suffix: string) => headers[`X-${name}-${suffix}`] ?? "";
  const type = `${name}SignedOp`;
  const address = await recoverTypedDataAddress({
    domain: { name, version: "1", chainId: 10 },
    types: {
      [type]: [
        { name: "op", type: "string" },
        { name: "fid", type: "uint64" },
        { name: "signedAt", type: "uint256" },
        { name: "nonce", type: "bytes32" },
        { name: "requestHash", type: "bytes32" },
      ],
    },
    primaryType: type,
    message: {
      op: header("Op"),
      fid: BigInt(header("Fid")),
      signedAt: BigInt(header("Signed-At")),
      nonce: header("Nonce") as `0x${string}`,
      requestHash: keccak256(body),
    },
    signature: header("Signature") as `0x${string}`,
  });
  return address.toLowerCase();
}

const custody: string = demoKeys(FID)?.custody.address ?? "";
const utf8 = (text: string) => new TextEncoder().encode(text);

describe("sign prints headers that the custody address signed", () => {
  test("for an empty body", async () => {
    const before = Math.floor(Date.now() / 1000);
    const headers = await sign(["--op", "app.read"]);
    expect(Object.keys(headers)).toEqual([
      "X-Svc-Fid",
      "X-Svc-Op",
      "X-Svc-Signed-At",
      "X-Svc-Nonce",
      "X-Svc-Signature",
    ]);
    expect(headers["X-Svc-Nonce"]).toMatch(/^0x[0-9a-f]{64}$/);
    expect(headers["X-Svc-Signature"]).toMatch(/^0x[0-9a-f]{130}$/);
    expect(Number(headers["X-Svc-Signed-At"])).toBeWithin(before, Math.floor(Date.now() / 1000) + 1);
    expect(await signerOf(headers, new Uint8Array())).toBe(custody);
  });

  test.each([
    ["line ends and space", utf8(' { "b": 1,\r\n"a" : 2 }\n\n')],
    ["unicode", utf8('{"name":"\ufeffé e\u0301 🍞"}')],
    ["bytes that are no text", Uint8Array.of(0xff, 0xfe, 0x00, 0x0a, 0x0d)],
  ])("over every byte of a body with %s, from a file or standard input", async (_, body) => {
    using dir = emptyDir();
    const file = `${dir.path}/body`;
    writeFileSync(file, body);
    const fromFile = await sign(["POST", "/v2/svc/frame/app/", "--body", file]);
    const fromInput = await sign(["POST", "/v2/svc/frame/app/", "--body", "-"], { stdin: body });
    for (const headers of [fromFile, fromInput]) {
      expect(headers).toMatchObject({ "X-Svc-Op": "app.create", "Content-Type": "application/json" });
      expect(await signerOf(headers, body)).toBe(custody);
    }
    expect(fromFile["X-Svc-Nonce"]).not.toBe(fromInput["X-Svc-Nonce"] ?? "");
  });

  test("as JSON, and with the service's configured name", async () => {
    const args = [
      "sign",
      "--op",
      "webhook.delete",
      "--fid",
      `${FID}`,
      "--json",
      "--set",
      "service.name=node9",
    ];
    const headers: Record<string, string> = JSON.parse((await run(args, { env: ENV })).out);
    expect(headers["X-Node9-Op"]).toBe("webhook.delete");
    expect(await signerOf(headers, new Uint8Array(), "Node9")).toBe(custody);
  });
});

describe("method and path, or the operation's name", () => {
  const basePath = "/v2/svc";

  test("every signed request has its own operation", () => {
    expect(Object.keys(signedOperations).length).toBeGreaterThan(12);
    for (const { method, path, op } of Object.values(signedOperations)) {
      for (const spelt of [
        path,
        `${basePath}${path}/`,
        `//v2/svc/${path}?app_id=1`,
        `https://a.example/b${basePath}${path}`,
      ]) {
        expect(opFor({ method: method.toLowerCase(), path: spelt, op: undefined, basePath })).toBe(op);
      }
      expect(opFor({ method: undefined, path: undefined, op, basePath })).toBe(op);
    }
  });

  const refused = (method?: string, path?: string, op?: string) => () =>
    opFor({ method, path, op, basePath });

  test.each([
    [
      refused("GET", "/v2/svc/user"),
      'GET /v2/svc/user" is not a signed request; these are\n  POST   /v2/svc/frame/app\n',
    ],
    [refused("POST", "/v2/svc/frame/app/list"), "is not a signed request"],
    [refused("GET", "/v2/other/frame/app"), "is not a signed request"],
    [refused("GET", "/frame?x=/frame/app"), "is not a signed request"],
    [refused("GET", "/frame/app", "app.read"), "either --op or a method and a path"],
    [refused("GET"), "give a method and a path"],
    [refused(), "give a method and a path"],
    [
      refused(undefined, undefined, "app.eat"),
      'no signed operation "app.eat"; there are app.create, app.read, ',
    ],
  ])("refuses a request that cannot be signed, case %#", (ask, reason) => {
    expect(ask).toThrow(reason);
  });

  test.each([
    [["GET", "/v2/svc/user"], "is not a signed request"],
    [["--op", "app.create", "--body", "/nowhere"], "/nowhere cannot be read: ENOENT"],
  ])("sign %j: exit 1, and the message says why", async (args, reason) => {
    const { exitCode, out, errors } = await run(["sign", ...args, "--fid", `${FID}`], { env: ENV });
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
    expect(errors).toContain(reason);
  });

  test("a body that every node rejects is not signed", async () => {
    const args = ["sign", "--op", "app.create", "--body", "-", "--fid", `${FID}`];
    const { exitCode, errors } = await run(args, { env: ENV, stdin: new Uint8Array(262_145) });
    expect({ exitCode, errors }).toEqual({ exitCode: 1, errors: "error: - has more than 262144 bytes\n" });
  });
});
