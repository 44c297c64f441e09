import { expect, test } from "bun:test";
import { probeUrl } from "../../src/cli/client/healthcheck.ts";
import { listenerUrl } from "../../src/cli/client/node-url.ts";
import { CLOSED_PORT } from "../support/addresses.ts";
import { compiledFile } from "../support/compiled-program.ts";
import { run } from "./run.ts";

/** An instance that is alive, and ready or not. It records the requested paths. */
function instance(ready: boolean) {
  const requests: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      requests.push(pathname);
      if (pathname === "/health" || (pathname === "/ready" && ready)) return Response.json({ status: "ok" });
      if (pathname === "/moved") return Response.redirect("/health");
      return Response.json({ message: "index is behind\u001b[2J" }, { status: 503 });
    },
  });
  return {
    requests,
    port: String(server.port),
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

test("exits with 0 when the instance of the settings or of the URL is ready", async () => {
  await using ready = instance(true);
  const bySettings = await run(["healthcheck", "--port", ready.port]);
  expect(bySettings).toEqual({ exitCode: 0, out: '200 {"status":"ok"}\n', errors: "" });
  expect(
    await run(["healthcheck"], { env: { SVC_HTTP_PORT: ready.port, SVC_HTTP_HOST: "0.0.0.0" } }),
  ).toEqual(bySettings);
  expect(await run(["healthcheck", ready.url])).toEqual(bySettings);
  expect(ready.requests).toEqual(["/ready", "/ready", "/ready"]);
});

test("exits with 1 and the reason when the instance is not ready, and with 0 for --live", async () => {
  await using behind = instance(false);
  const { exitCode, out, errors } = await run(["healthcheck", behind.url]);
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
  expect(errors).toContain(`${behind.url}/ready responded 503 {"message":"index is behind`);
  expect(errors).not.toContain("\u001b");
  expect(await run(["healthcheck", "--live", behind.url])).toMatchObject({ exitCode: 0 });
  expect(behind.requests).toEqual(["/ready", "/health"]);
});

test("a redirect does not count as healthy", async () => {
  await using ready = instance(true);
  expect(await run(["healthcheck", `${ready.url}/moved`])).toMatchObject({ exitCode: 1 });
  expect(ready.requests).toEqual(["/moved"]);
});

test("exits with 1 when the instance does not respond in time, or is not running", async () => {
  await using silent = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Promise<Response>(() => {}),
  });
  const late = await run(["healthcheck", `http://127.0.0.1:${silent.port}`, "--timeout", "1"]);
  expect(late.exitCode).toBe(1);
  expect(late.errors).toEndWith("/ready did not respond in time\n");
  const missing = `http://127.0.0.1:${CLOSED_PORT}`;
  expect(await run(["healthcheck", missing])).toEqual({
    exitCode: 1,
    out: "",
    errors: `error: no node listens at ${missing}: start one with \`${compiledFile} serve\`, or name the URL of another\n`,
  });
});

test.each([
  [["healthcheck", "ftp://x"], "not an http or https URL"],
  [["healthcheck", "nonsense"], "not an http or https URL"],
  [["healthcheck", "--port", "0"], "http.port is 0"],
  [["healthcheck", "--timeout", "0"], "--timeout"],
  [["healthcheck", "--timeout", "1e1"], "--timeout"],
  [["healthcheck", "--port", "x"], "http.port"],
])("%j exits with 1 and names the reason", async (args, reason) => {
  const { exitCode, errors } = await run(args);
  expect(exitCode).toBe(1);
  expect(errors).toContain(reason);
});

test("the probed address follows the listener's", () => {
  const urlOf = (host: string) => probeUrl(listenerUrl({ host, port: 80 }), false).href;
  expect(urlOf("::1")).toBe("http://[::1]/ready");
  expect(urlOf("::")).toBe("http://[::1]/ready");
  expect(urlOf("0.0.0.0")).toBe("http://127.0.0.1/ready");
  expect(urlOf("node.example")).toBe("http://node.example/ready");
  expect(probeUrl("https://x.example/", true).href).toBe("https://x.example/health");
});
