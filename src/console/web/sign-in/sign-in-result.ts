/** How the login page gives an app its result: to the app that shows it, by a link, or to the page that opened it. */

/** What a login ends with. */
export interface LoginResult {
  /** As apps know it from the hosted login page. */
  readonly message: Readonly<Record<string, unknown>>;
  /** Where the visitor goes, by the app's choice; null for nowhere. */
  readonly redirect_to: string | null;
}

/** Who opened the page, and how it wants its result. */
export interface Opener {
  /** Parameters of the page's own address, which the node checks. */
  readonly request: Readonly<Record<string, string>>;
  /** The registered origins of the app. */
  readonly origins: readonly string[];
  /** The one that has replied. */
  readonly known: () => string | undefined;
}

interface NativeHost {
  readonly ReactNativeWebView?: { postMessage(text: string): void };
}

const PARAMETERS = ["redirect_uri", "state", "deeplink_url"];

/** Says to each registered origin that the page is open. An opener with one of them may reply, which names its origin. */
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

/** Gives the app its result. The browser delivers it to no origin but the registered ones. */
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
  // The script of the old button names where to go, too, and waits for the message: it closes this page.
  if (to !== null) location.assign(to);
}
