declare const self: Worker;

/** A verifier thread with a bug. */
self.onmessage = () => {
  throw new Error("a bug");
};
