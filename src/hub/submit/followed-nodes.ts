import type { Client } from "@grpc/grpc-js";
import { connectUpstream } from "../../upstream/calls/connection.ts";
import type { EndpointStatus } from "../../upstream/peers/endpoints/endpoint-status.ts";
import type { SubmitTarget } from "./write-through.ts";

/** Interval between reads of the state of the nodes. */
const LOOK_MS = 2000;

/** Connections to the followed nodes, for messages that clients submit and for blocks that are relayed. */
export type FollowedNodes = ReturnType<typeof connectFollowedNodes>;

export interface FollowedNodesDeps {
  /** From the settings, at least one. */
  readonly urls: readonly string[];
  readonly contact: string;
  /** Returns the states of the nodes as the follower sees them. Not called for a single node. */
  readonly states: () => Promise<readonly EndpointStatus[]>;
}

export function connectFollowedNodes({ urls, contact, states }: FollowedNodesDeps) {
  const clients = urls.map((url) => connectUpstream(url, { contact }));
  const [only] = clients;
  if (!only) throw new Error("no node is followed");
  let known: readonly EndpointStatus[] = [];
  const look = () =>
    states().then(
      (found) => {
        known = found;
      },
      // The watch of the upstream reports a worker that does not respond.
      () => {},
    );
  const timer = clients.length > 1 ? setInterval(look, LOOK_MS) : undefined;
  if (timer) void look();
  const clientOf = (status: EndpointStatus | undefined) => (status && clients[status.position - 1]) ?? only;
  return {
    /** Returns the first node of the settings that is healthy. */
    first(): SubmitTarget {
      const client = clientOf(
        known.find(({ state }) => state === "ok") ?? known.find(({ state }) => state === "lagging"),
      );
      return { client, isFirst: client === only };
    },
    /** Returns the node from which blocks are read at the moment. */
    active: (): Client => clientOf(known.find(({ isActive }) => isActive)),
    close(): void {
      clearInterval(timer);
      for (const client of clients) client.close();
    },
  };
}
