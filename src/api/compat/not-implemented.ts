import { Elysia } from "elysia";
import { addUnimplemented, type UnimplementedRoute } from "../../http/operation.ts";

/** Additional writes of the hosted API's clients; they are rejected like the others. */
// biome-ignore format: one route a line
const routes: readonly UnimplementedRoute[] = [
  { method: "POST", path: "/user", operationId: "registerAccount", summary: "Register an account", tags: ["Users"] },
  { method: "POST", path: "/action", operationId: "publishAction", summary: "Post a frame action", tags: ["Mini apps"] },
  { method: "POST", path: "/storage/buy", operationId: "buyStorage", summary: "Buy storage for a user", tags: ["Storage"] },
  { method: "POST", path: "/frame/transaction/pay", operationId: "createPayment", summary: "Create a payment page", tags: ["Mini apps"] },
  { method: "POST", path: "/app_host/user/event", operationId: "postHostEvent", summary: "Report an event of a mini app's host", tags: ["Mini apps"] },
];

export function clientWriteRoutes() {
  const when = "Always. The operation belongs to a hosted API and has no counterpart in this service.";
  return addUnimplemented(new Elysia({ name: "farcaster-writes" }), routes, when);
}
