import { createUpstreamClient } from "../../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../../src/upstream/calls/connection.ts";

/** Requests the info of the upstream at the URL of the command line. Prints its version, or the code of the error. */
const connection = connectUpstream(process.argv[2] ?? "");
const pace = { callTimeoutMs: 60_000, stallMs: 60_000 };
const client = createUpstreamClient(connection, pace, new AbortController().signal);
const output = await client.info().then(
  ({ version }) => version,
  (fault: { code: number }) => `fault ${fault.code}`,
);
process.stdout.write(output);
connection.close();
