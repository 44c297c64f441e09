import { setImmediate } from "node:timers";
import { CALL_PRICE } from "./frame-meter.ts";
import { ReceiveQueue } from "./receive-queue.ts";

/** How much the thread receives in a turn of its event loop: about a millisecond of work. */
const TURN_PRICE = 8 * CALL_PRICE;
/** Less than this counts with the next turn, because noticing the end of a turn costs a tenth of a call. */
const BUSY_PRICE = 4 * CALL_PRICE;

const KIB = 1024;
/** Bytes of a client that may wait. With more, its connections are not read until half of them are forwarded. */
const MAX_CLIENT_BYTES = 1024 * KIB;
/** While the bytes of all clients are more, one may have only `MIN_CLIENT_BYTES`. */
const MAX_TOTAL_BYTES = 64 * 1024 * KIB;
const MIN_CLIENT_BYTES = 64 * KIB;

/** A connection whose received bytes are ordered. */
export interface Receiver {
  /** May close the connection. */
  readonly forward: (bytes: Buffer) => void;
  /** Called after all bytes, if the other end sends no more. */
  readonly end: () => void;
  /** Stops and continues reading. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** The place of a connection in the order. */
export interface ReceivePlace {
  receive(bytes: Buffer): void;
  /** The other end sends no more. */
  end(): void;
  /** Drops what waits. */
  close(): void;
}

interface Connection {
  readonly client: Client;
  readonly receiver: Receiver;
  readonly queue: ReceiveQueue;
  /** The part of its client's bytes that is its own. */
  bytes: number;
  isWaiting: boolean;
  isEnding: boolean;
  isClosed: boolean;
}

interface Client {
  readonly connections: Set<Connection>;
  /** Connections with bytes that wait, the one served last at the end. */
  readonly waiting: Connection[];
  /** Its virtual time: the price of what was forwarded, but at least that of the client served last when it began to wait. */
  used: number;
  bytes: number;
  isPaused: boolean;
}

/**
 * Orders what a thread receives on HTTP/2 connections. Bun reads up to half a megabyte at a time and begins all calls in it, so a call
 * would wait for hundreds of another client. Here, a turn of the event loop forwards a few calls, and those of the client that was
 * served least come first. A client that sends more than the thread can do is not read meanwhile.
 */
export class ReceiveOrder {
  readonly #clients = new Map<unknown, Client>();
  /** Clients with bytes that wait. */
  readonly #waiting = new Set<Client>();
  #bytes = 0;
  /** The price of what was forwarded in this turn. */
  #spent = 0;
  /** The virtual time of the client that was served last. */
  #used = 0;
  #isScheduled = false;

  /**
   * Starts reading a connection.
   *
   * @param key identifies the client of the connection.
   */
  open(key: unknown, receiver: Receiver): ReceivePlace {
    const client = this.#clients.get(key) ?? newClient();
    this.#clients.set(key, client);
    const queue = new ReceiveQueue(receiver.forward);
    const connection: Connection = {
      client,
      receiver,
      queue,
      bytes: 0,
      isWaiting: false,
      isEnding: false,
      isClosed: false,
    };
    client.connections.add(connection);
    if (client.isPaused) receiver.pause();
    else receiver.resume();
    return {
      receive: (bytes) => this.#receive(connection, bytes),
      end: () => {
        connection.isEnding = true;
        endIfEmpty(connection);
      },
      close: () => {
        if (connection.isClosed) return;
        connection.isClosed = true;
        queue.clear();
        this.#count(connection);
        client.connections.delete(connection);
        if (client.connections.size === 0) this.#clients.delete(key);
      },
    };
  }

  #receive(connection: Connection, bytes: Buffer): void {
    const { client, queue } = connection;
    if (connection.isClosed) return;
    queue.push(bytes);
    if (!connection.isWaiting) {
      if (client.waiting.length === 0) client.used = Math.max(client.used, this.#used);
      if (this.#waiting.size === 0 && this.#spent < TURN_PRICE) this.#serve(connection);
      if (!queue.isEmpty) this.#wait(connection);
    }
    this.#count(connection);
    if (this.#spent >= BUSY_PRICE) this.#schedule();
  }

  #wait(connection: Connection): void {
    connection.isWaiting = true;
    connection.client.waiting.push(connection);
    this.#waiting.add(connection.client);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#spent = 0;
      while (this.#waiting.size > 0 && this.#spent < TURN_PRICE) this.#serveNext();
      if (this.#spent > 0) this.#schedule();
    });
  }

  #serveNext(): void {
    let next: Client | undefined;
    for (const client of this.#waiting) if (next === undefined || client.used < next.used) next = client;
    const connection = next?.waiting.shift();
    if (next === undefined || connection === undefined) return;
    connection.isWaiting = false;
    this.#serve(connection);
    this.#count(connection);
    if (!connection.queue.isEmpty) this.#wait(connection);
    else if (next.waiting.length === 0) this.#waiting.delete(next);
  }

  /** Forwards frames of a connection, as far as this turn allows. */
  #serve(connection: Connection): void {
    const { client, queue } = connection;
    this.#used = client.used;
    const price = queue.pass(TURN_PRICE - this.#spent);
    this.#spent += price;
    client.used += price;
    endIfEmpty(connection);
  }

  /** Counts the bytes of a connection after a change. */
  #count(connection: Connection): void {
    const { client, queue } = connection;
    const wasFull = this.#bytes > MAX_TOTAL_BYTES;
    const grown = queue.bytes - connection.bytes;
    connection.bytes += grown;
    client.bytes += grown;
    this.#bytes += grown;
    this.#pauseOrResume(client);
    if (!wasFull && this.#bytes > MAX_TOTAL_BYTES)
      for (const each of this.#waiting) this.#pauseOrResume(each);
  }

  #pauseOrResume(client: Client): void {
    const limit = this.#bytes > MAX_TOTAL_BYTES ? MIN_CLIENT_BYTES : MAX_CLIENT_BYTES;
    if (client.isPaused ? client.bytes > limit / 2 : client.bytes <= limit) return;
    client.isPaused = !client.isPaused;
    for (const { receiver } of client.connections) client.isPaused ? receiver.pause() : receiver.resume();
  }
}

function newClient(): Client {
  return { connections: new Set(), waiting: [], used: 0, bytes: 0, isPaused: false };
}

function endIfEmpty({ isEnding, isClosed, queue, receiver }: Connection): void {
  if (isEnding && !isClosed && queue.isEmpty) receiver.end();
}
