export function Page() {
  return (
    <main>
      <h1>A Farcaster node of your own</h1>
      <p>
        It answers under <code>/v2</code>; <a href="/docs">read the API</a>.
      </p>
    </main>
  );
}
