import { serveVerifier, type VerifierScope } from "../../ingest/bulk/verify/verifier-thread.ts";

declare const self: VerifierScope;

/** Verifies messages for a backfill or an import. Its thread belongs to a pool and ends with it. */
serveVerifier(self);
