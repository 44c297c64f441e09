/** How the login page passes an app its result: to the app that displays it, by a link, or to the page that opened it. */

/** The result of a login. */
export interface LoginResult {
  /** In the format of the hosted login page. */
  readonly message: Readonly<Record<string, unknown>>;
  /** Where the app sends the visitor; null for nowhere. */
  readonly redirect_to: string | null;
}

/** The page that opened this one, and how it wants its result. */
export interface Opener {
  /** Parameters of the page's own address, which the node verifies. */
  readonly request: Readonly<Record<string, string>>;
  /** The registered origins of the app. */
  readonly origins: readonly string[];
  /** Returns the origin that has replied. */
  readonly known: () => string | undefined;
}

interface NativeHost {
  readonly ReactNativeWebView?: { postMessage(text: string): void };
}

const PARAMETERS = ["redirect_uri", "state", "deeplink_url"];

/** Announces to each registered origin that the page is open. An opener with one of them may reply, which reveals its origin. */
export function openerOf(data: Readonly<Record<string, string | undefined>>): Opener {
  const query = new URLSearchParams(location.search);
  const request = Object.fromEntries(
    PARAMETERS.flatMap((name) => {
      const value = query.get(name);
      return value === null || value === "" ? [] : [[name, value]];
    }),
  );
  const origins: readonly string[] = JSON.parse(data.origins ?? "[]");
  let known: string | undefined;
  const opener: Window | null = window.opener;
  if (opener && data.ready !== undefined) {
    addEventListener("message", ({ source, origin }) => {
      if (source === opener && origins.includes(origin)) known = origin;
    });
    for (const origin of origins) opener.postMessage({ type: data.ready }, origin);
  }
  return { request, origins, known: () => known };
}

/** Passes the app its result. The browser delivers it only to registered origins. */
export function deliver({ message, redirect_to: to }: LoginResult, { origins, known }: Opener): void {
  const native = (window as NativeHost).ReactNativeWebView;
  if (native) {
    native.postMessage(JSON.stringify(message));
    return;
  }
  const opener: Window | null = window.opener;
  const origin = known();
  for (const target of origin === undefined ? origins : [origin]) {
    opener?.postMessage(message, target);
  }
  // The script of the old button also sends a redirect, but waits for the message and then closes this page.
  if (to !== null) location.assign(to);
}
