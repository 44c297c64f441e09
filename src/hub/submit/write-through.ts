import { type Client, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { err, ok, type Result } from "../../lib/result.ts";
import { isChannelMessage } from "../../protocol/channels/slots.ts";
import { encodeMessage, type SignedMessage, toWire } from "../../protocol/message/signed-message.ts";
import { type Rejection, rejection } from "../../protocol/rejection.ts";
import {
  type BulkMessageResponse,
  HubServiceService,
  SubmitBulkMessagesRequest,
  SubmitBulkMessagesResponse,
} from "../../protocol/wire/generated/hub.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { SubmitResult } from "../../writes/network.ts";
import { relayedFault, shownText } from "../grpc-errors.ts";
import { acceptedInBulk, refusedInBulk } from "./message-responses.ts";
import type { SubmissionCheck } from "./submission-check.ts";

/** A node that receives messages. */
export interface SubmitTarget {
  readonly client: Client;
  /** Whether it is the first one of the settings. No other node receives the credentials. */
  readonly isFirst: boolean;
}

/** Dependencies and settings for forwarding. */
export interface WriteThroughDeps {
  /** Returns the node that receives the next message. */
  readonly target: () => SubmitTarget;
  /** Basic credentials for the first node; both empty if it needs none. */
  readonly username: string;
  readonly password: string;
  readonly check: SubmissionCheck;
  readonly clock: Clock;
  /** Called at most once a minute when the upstream refuses this node's credentials. */
  readonly onLoginRefused: () => void;
  /** Timeout of a call in milliseconds. Default: the program's own. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
const LOGIN_REPORT_INTERVAL_MS = 60_000;

/**
 * Forwards messages to the upstream instead of merging them. The rules that depend only on a message are checked here first;
 * the upstream checks the rest (admission, names on a chain, limits). OK means that the upstream has queued the message. The
 * message itself arrives over the feed that the node follows.
 */
export class WriteThrough {
  readonly #options: WriteThroughDeps;
  #loginReportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: WriteThroughDeps) {
    this.#options = options;
  }

  /** Forwards one message. Returns the decoded message, or why it was refused, by this node or the upstream. */
  submit(bytes: Uint8Array, client?: string): Promise<Result<SignedMessage, Rejection | ServiceError>> {
    const { check } = this.#options;
    const forward = async (): Promise<Result<SignedMessage, Rejection | ServiceError>> => {
      const message = check.check(bytes);
      if (!message.ok) return message;
      const response = await this.#call(HubServiceService.submitMessage.path, encodeMessage(message.value));
      return response.ok ? message : err(relayedFault(response.error));
    };
    return check.submitting([bytes], forward, client);
  }

  /**
   * Forwards the messages of one write, several per call. Upstreams fail all messages of an fid for an error of one, so
   * messages that such a call did not accept are forwarded again, one after the other. After a lost response, the rest is
   * not waited for.
   */
  async submitWrite(received: readonly Uint8Array[]): Promise<readonly SubmitResult[]> {
    const { check } = this.#options;
    const results = await check.submitting<readonly SubmitResult[], Rejection>(received, async () => {
      const all = await check.checkAll(received);
      if (!all.ok) return all;
      const checked = all.value;
      const valid = checked.flatMap((result) => (result.ok ? [result.value] : []));
      // Shard 0 does not accept bulk requests.
      const bulk = valid.filter(({ data }) => !isChannelMessage(data));
      const inBulk = bulk.length > 1 ? await this.#acceptedInBulk(bulk) : new Set<string>();
      let isLost = false;
      const decided: SubmitResult[] = [];
      for (const result of checked) {
        if (!result.ok) decided.push(refusedHere(result.error));
        else if (inBulk.has(result.value.hash.toHex())) decided.push({ kind: "accepted" });
        else if (isLost) decided.push(LOST);
        else decided.push(await this.#forwardOne(result.value));
        isLost ||= decided.at(-1)?.kind === "unknown";
      }
      return ok(decided);
    });
    if (results.ok) return results.value;
    const { error } = results;
    return received.map(() => refusedHere(error));
  }

  async #forwardOne(message: SignedMessage): Promise<SubmitResult> {
    const response = await this.#call(HubServiceService.submitMessage.path, encodeMessage(message));
    return response.ok ? { kind: "accepted" } : resultOf(response.error);
  }

  /** Forwards all messages in one call. Returns the hashes, as hex, of those that the upstream has accepted. */
  async #acceptedInBulk(messages: readonly SignedMessage[]): Promise<ReadonlySet<string>> {
    const request = SubmitBulkMessagesRequest.encode({ messages: messages.map(toWire) }).finish();
    const response = await this.#call(HubServiceService.submitBulkMessages.path, request);
    if (!response.ok) return new Set();
    const results = SubmitBulkMessagesResponse.decode(response.value).messages;
    return new Set(
      results.flatMap(({ response: one }) => (one?.$case === "message" ? [one.value.hash.toHex()] : [])),
    );
  }

  /**
   * Forwards the valid messages in one call. Returns the results in the order of the request. The upstream's results are in
   * the order of its shards, so they are matched by hash, and a repeated message is forwarded once. If the call fails as a
   * whole, so does the request.
   */
  submitBulk(
    received: readonly Uint8Array[],
    client?: string,
  ): Promise<Result<BulkMessageResponse[], Rejection | ServiceError>> {
    const { check } = this.#options;
    const forward = async (): Promise<Result<BulkMessageResponse[], Rejection | ServiceError>> => {
      const all = await check.checkAll(received, { client });
      if (!all.ok) return all;
      const checked = all.value;
      const valid = checked.flatMap((result) => (result.ok ? [result.value] : []));
      const forwarded = new Map(valid.map((message) => [message.hash.toHex(), message]));
      let results = new Map<string, BulkMessageResponse>();
      if (forwarded.size > 0) {
        const messages = [...forwarded.values()].map(toWire);
        const request = SubmitBulkMessagesRequest.encode({ messages }).finish();
        const response = await this.#call(HubServiceService.submitBulkMessages.path, request);
        if (!response.ok) return err(relayedFault(response.error));
        results = resultsByHash(SubmitBulkMessagesResponse.decode(response.value), forwarded);
      }
      return ok(
        checked.map((result, at) =>
          result.ok
            ? (results.get(result.value.hash.toHex()) ?? refusedInBulk(NO_RESULT, received[at]))
            : refusedInBulk(result.error, received[at]),
        ),
      );
    };
    return check.submitting(received, forward, client);
  }

  #call(path: string, request: Uint8Array): Promise<Result<Uint8Array, ServiceError>> {
    const { promise, resolve } = Promise.withResolvers<Result<Uint8Array, ServiceError>>();
    const asBuffer = (bytes: Buffer) => bytes;
    const { client, isFirst } = this.#options.target();
    client.makeUnaryRequest(
      path,
      asBuffer,
      asBuffer,
      Buffer.from(request.buffer, request.byteOffset, request.byteLength),
      isFirst ? this.#login() : new Metadata(),
      // gRPC deadlines use the machine's clock.
      { deadline: new Date(Date.now() + (this.#options.timeoutMs ?? TIMEOUT_MS)) },
      (fault, response = Buffer.alloc(0)) => {
        if (!fault) return resolve(ok(response));
        if (isFirst && (fault.code === status.UNAUTHENTICATED || fault.code === status.PERMISSION_DENIED))
          this.#reportRefusedLogin();
        resolve(err(fault));
      },
    );
    return promise;
  }

  #login(): Metadata {
    const { username, password } = this.#options;
    const metadata = new Metadata();
    if (username !== "") {
      const login = Buffer.from(`${username}:${password}`).toString("base64");
      metadata.set("authorization", `Basic ${login}`);
    }
    return metadata;
  }

  #reportRefusedLogin(): void {
    const nowMs = this.#options.clock.nowMs();
    if (nowMs - this.#loginReportedAtMs < LOGIN_REPORT_INTERVAL_MS) return;
    this.#loginReportedAtMs = nowMs;
    this.#options.onLoginRefused();
  }
}

function refusedHere({ code, reason }: Rejection): SubmitResult {
  return { kind: "refused", code, reason };
}

const LOST: SubmitResult = { kind: "unknown", reason: "an earlier message of the write got no response" };

/**
 * Returns what an error of the upstream means for a message. Only its own codes for bad requests are a refusal; after
 * anything else the message may be on its way.
 */
function resultOf({ code, details, metadata }: ServiceError): SubmitResult {
  if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED) return { kind: "login_refused" };
  const errCode = shownText(String(metadata.get("x-err-code")[0] ?? ""));
  if (!errCode.startsWith("bad_request.")) return { kind: "unknown", reason: shownText(details) };
  return { kind: "refused", code: errCode, reason: shownText(details) };
}

const NO_RESULT = rejection("unavailable", "the upstream gave no result for the message; try again");

/**
 * Returns the upstream's results for the forwarded messages. Accepted messages are returned in this node's own encoding;
 * results of other messages are dropped.
 */
function resultsByHash(
  { messages }: SubmitBulkMessagesResponse,
  forwarded: ReadonlyMap<string, SignedMessage>,
): Map<string, BulkMessageResponse> {
  const results = new Map<string, BulkMessageResponse>();
  for (const { response } of messages) {
    const hash = response?.value.hash.toHex() ?? "";
    const message = forwarded.get(hash);
    if (!message || !response) continue;
    if (response.$case === "message") {
      results.set(hash, acceptedInBulk(message));
    } else {
      const { errCode, message: reason } = response.value;
      const value = { hash: message.hash, errCode: shownText(errCode), message: shownText(reason) };
      results.set(hash, { response: { $case: "messageError", value } });
    }
  }
  return results;
}
