import { afterEach } from "bun:test";

/** Returns a function that disposes what it is given after the test that is running. */
export function disposedAfterEach(): <T extends AsyncDisposable>(opened: T) => T {
  const all: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of all.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });
  return (opened) => {
    all.push(opened);
    return opened;
  };
}
