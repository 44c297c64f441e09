import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { runHttp } from "../support/http.ts";

function pendingRoute() {
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const plugin = new Elysia({ name: "pending" }).get("/pending", async () => {
    started.resolve();
    await released.promise;
    return { done: true };
  });
  return { plugin, started: started.promise, release: () => released.resolve() };
}

test("stopping refuses what is new and finishes what was accepted", async () => {
  const { plugin, started, release } = pendingRoute();
  await using http = runHttp({ plugins: [plugin] });
  const answer = fetch(http.api("/pending"));
  await started;
  const stopped = http.server.stop();
  await expect(fetch(`${http.url}/health`)).rejects.toThrow();

  release();
  const response = await answer;
  expect(response.status).toBe(200);
  expect(response.headers.get("connection")).toBe("close");
  expect(await response.json()).toEqual({ done: true });
  await stopped;
});

test("what does not finish within the grace is cut off", async () => {
  const { plugin, started } = pendingRoute();
  await using http = runHttp({ plugins: [plugin] });
  const answer = fetch(http.api("/pending"));
  await started;
  await http.server.stop({ graceMs: 1 });
  await expect(answer).rejects.toThrow();
  expect(http.logLines).toContainEqual(
    expect.objectContaining({
      level: 40,
      msg: "Closed connections whose requests had not finished",
      graceMs: 1,
    }),
  );
});

test("an idle keep-alive connection does not hold it up, and stopping twice is once", async () => {
  const http = runHttp();
  await (await fetch(`${http.url}/health`)).text();
  await http.server.stop({ graceMs: 60_000 });
  await http.server.stop({ graceMs: 60_000 });
});

test("a server that never listened stops", async () => {
  const http = runHttp();
  await http.server.stop();
});
