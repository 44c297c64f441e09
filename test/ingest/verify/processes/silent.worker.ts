declare const self: Worker;

/** A verifier thread that never replies. */
self.onmessage = () => {};
