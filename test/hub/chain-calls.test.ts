import { beforeAll, describe, expect, test } from "bun:test";
import { createGatewayRequest } from "../../src/hub/submit/chain-calls.ts";
import { createOutboundClient } from "../../src/net/client.ts";
import { createUrlGuard } from "../../src/net/guard.ts";
import { startRawReceiver, startReceiver } from "../support/receiver.ts";

const sender = "0xAbCdEf0000000000000000000000000000000001";
const data = "0x1234";

const requestOf = (allowCidrs: string[]) =>
  createGatewayRequest(createOutboundClient({ guard: createUrlGuard({ allowCidrs, allowHttp: true }) }));

describe("CCIP gateways", () => {
  let request: ReturnType<typeof requestOf>;
  beforeAll(() => {
    request = requestOf(["127.0.0.1/32"]);
  });

  test("are called with GET if the URL has a placeholder for the data, otherwise with POST", async () => {
    await using gateway = startReceiver({ respond: () => Response.json({ data: "0xabcd" }) });
    const base = `http://127.0.0.1:${gateway.port}`;
    expect(await request({ data, sender, urls: [`${base}/{sender}/{data}.json`] })).toBe("0xabcd");
    expect(await request({ data, sender, urls: [`${base}/{sender}`] })).toBe("0xabcd");
    const path = `/${sender.toLowerCase()}`;
    expect(gateway.requests).toMatchObject([
      { method: "GET", path: `${path}/${data}.json`, body: "" },
      { method: "POST", path, body: JSON.stringify({ data, sender }) },
    ]);
  });

  test("the next one is called after a fault or an invalid response, but not after a 4xx", async () => {
    const responses = [
      () => new Response("{}", { status: 503 }),
      () => new Response("nonsense"),
      () => Response.json({ data: "not hex" }),
      () => Response.json({ data: "0x01" }),
    ];
    let at = 0;
    await using gateway = startReceiver({
      respond: () => responses[at++]?.() ?? new Response(null, { status: 500 }),
    });
    const urls = ["a", "b", "c", "d"].map((name) => `http://127.0.0.1:${gateway.port}/${name}`);
    expect(await request({ data, sender, urls })).toBe("0x01");
    await using refusing = startReceiver({ respond: () => new Response(null, { status: 404 }) });
    const refused = [`http://127.0.0.1:${refusing.port}/`, ...urls];
    await expect(request({ data, sender, urls: refused })).rejects.toThrow("no gateway");
  });

  test("a private address is never called, and at most 4 gateways are tried", async () => {
    await using inside = startRawReceiver((socket) => socket.end());
    const url = `http://127.0.0.1:${inside.port}/`;
    await expect(requestOf([])({ data, sender, urls: [url] })).rejects.toThrow("no gateway");
    expect(inside.connections).toBe(0);
    await expect(request({ data, sender, urls: Array(20).fill(url) })).rejects.toThrow("no gateway");
    expect(inside.connections).toBe(4);
  });
});
