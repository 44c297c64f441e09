export const APPS: Readonly<Record<string, string>> = {
  "auth.signed_at_window_secs":
    "Höchster Unterschied in Sekunden zwischen der Zeit einer signierten Operation und der Uhr des Servers, in beide Richtungen, 1 bis 3600. Genau dieser Wert ist noch erlaubt. Eine Nonce wird doppelt so lange gespeichert.",
  "auth.sessions":
    "Ob eine Custody-Adresse einen zweiten Schlüssel eine Weile Anfragen signieren lassen darf, damit die Seiten dieses Knotens nicht für jede die Wallet fragen. So ein Schlüssel liest, testet und wiederholt; was sich nicht rückgängig machen lässt, braucht weiter die Custody-Adresse. Mit false sind die Routen von Sitzungen 404, und ihr Header wird ignoriert.",
  "auth.session_ttl_secs": "Wie lange so ein Schlüssel höchstens gilt, in Sekunden, 300 bis 43200.",
  "signers.enabled":
    "Ob Schlüssel von Nutzern gespeichert werden und für sie signieren. Mit false lassen sich verwaltete Signierer nachschlagen, signieren aber nicht.",
  "signers.encryption_key":
    "64 Hexadezimalziffern, unter denen die Schlüssel der Nutzer versiegelt sind; `svc signer keygen` gibt welche aus. Am besten in einer Datei, die SVC_SIGNERS_ENCRYPTION_KEY_FILE nennt, außerhalb des Datenverzeichnisses. Leer: Es gibt keine verwalteten Signierer. Geht der Schlüssel verloren, signiert kein verwalteter Signierer mehr.",
  "signers.previous_encryption_keys":
    "Frühere Schlüssel, höchstens 4, bis alles unter dem jetzigen versiegelt ist (`signers.to_reseal` von `/status` ist 0).",
  "signers.key_ttl_secs":
    "Sekunden nach der letzten Nutzung, nach denen ein Schlüssel abläuft, den die Seite der Bestätigung hinzugefügt hat, 1 bis 7776000 (90 Tage).",
  "signers.export": "Ob Besitzer die privaten Schlüssel ihrer verwalteten Signierer exportieren dürfen.",
  "signers.max_signers_per_owner": "Verwaltete Signierer je Besitzer, 0 bis 10000000.",
  "quick_auth.enabled":
    "Ob Apps unter /quick-auth Leute anmelden können. Dazu gehören signers.encryption_key und service.public_url, außer wenn der Knoten nur auf diesem Rechner lauscht.",
  "quick_auth.algorithm":
    'Signaturverfahren der Tokens: "RS256", das alle Prüfer kennen, oder "ES256", dessen Tokens kürzer sind.',
  "quick_auth.token_ttl_secs":
    "Sekunden, die ein Token gilt, 60 bis 86400. Nichts beendet es früher, außer `svc quick-auth rotate --now`.",
  "quick_auth.key_rotation_days":
    "Tage, nach denen ein anderer Schlüssel Tokens signiert, 0 bis 3650; 0 behält den Schlüssel bis `svc quick-auth rotate`.",
  "quick_auth.domains":
    'Domains von Apps, die Leute anmelden dürfen, höchstens 1000, etwa "app.example", oder "*.example" für die darunter; leer für alle.',
  "web_signin.enabled":
    "Ob Apps Leute über das Relay unter /v1/channel und seine Seite unter /signin anmelden können.",
  "web_signin.upstream_relay":
    'Ein Relay, dessen Client-App dort bestätigt, normalerweise "https://relay.farcaster.xyz", das die Domain der App erfährt; leer für die Seite allein.',
  "web_signin.direct": "Ob Apps den Link jenes Relays statt dem der Seite bekommen.",
  "web_signin.refused_domains":
    'Domains, bei denen keine App Leute anmelden darf, höchstens 1000, etwa "bank.example", oder "*.bank.example" für die darunter.',
  "registry_rpc.enabled":
    "Ob /rpc/10 die Aufrufe der Register von Optimism, mit denen Bibliotheken eine Anmeldung prüfen, aus dem Index beantwortet.",
  "apps.max_apps_per_owner": "Höchstzahl der Mini-Apps, die eine fid besitzen darf, 0 bis 10000.",
  "apps.secret_grace_period_secs":
    "Sekunden, die ein Sendegeheimnis nach seinem Wechsel noch gilt, 0 bis 2592000 (30 Tage).",
  "api_keys.max_keys_per_owner": "Höchstzahl der API-Schlüssel, die eine fid besitzen darf, 0 bis 10000.",
  "api_keys.secret_grace_period_secs":
    "Höchstwert und Standard der Sekunden, die frühere Geheimnisse eines API-Schlüssels nach einem Wechsel noch gelten, 0 bis 2592000 (30 Tage).",
  "api_keys.units_per_minute":
    "Leseeinheiten, die ein Schlüssel je Minute und Prozess verbrauchen darf, 1 bis 1000000000; ein Besitzer kann für einen Schlüssel weniger setzen. Eine Einheit sind etwa 50 Mikrosekunden CPU.",
  "api_keys.burst_units":
    "Einheiten, die ein Schlüssel auf einmal verbrauchen darf, 1 bis 1000000000; nie mehr als seine units_per_minute.",
  "api_keys.writes_per_minute":
    "Nachrichten, die ein Schlüssel je Minute schreiben darf, über alle Knoten, 1 bis 1000000; ein Besitzer kann für einen Schlüssel weniger setzen.",
  "webhooks.max_webhooks_per_owner": "Höchstzahl der Webhooks, die eine fid besitzen darf, 0 bis 10000.",
  "webhooks.secret_grace_period_secs":
    "Sekunden, die ein Geheimnis eines Webhooks nach seinem Wechsel noch Zustellungen signiert, 0 bis 2592000 (30 Tage).",
  "webhooks.delivery_timeout_secs":
    "Sekunden, die ein Empfänger für die Antwort auf eine Zustellung hat, 1 bis 60.",
  "webhooks.delivery_concurrency":
    "Gleichzeitige Zustellungen aller Webhooks durch diesen Knoten, 0 bis 1024; 0, für einen Knoten, der nichts zustellt, nur mit state.url.",
  "webhooks.retry_max_attempts": "Versuche je Zustellung, den ersten eingeschlossen, 1 bis 20.",
  "webhooks.retry_initial_backoff_ms":
    "Millisekunden vor dem zweiten Versuch, 1 bis 3600000; jede weitere Wartezeit ist doppelt so lang wie die vorige, bis zu einem Tag. Sie schwankt um bis zu ein Fünftel und ist mindestens das Retry-After des Empfängers, bis zu einer Stunde.",
  "webhooks.rate_limit":
    "Aufrufe eines Webhooks je rate_limit_duration_secs, 1 bis 1000000; weitere Zustellungen warten, bis zu 15 Minuten.",
  "webhooks.rate_limit_duration_secs": "Länge des Zeitfensters von rate_limit in Sekunden, 1 bis 86400.",
  "send.send_concurrency":
    "Gleichzeitige Stapel von Benachrichtigungen aller Kampagnen durch diesen Knoten, 0 bis 1024; 0, für einen Knoten, der nichts sendet, nur mit state.url.",
  "send.send_timeout_secs":
    "Sekunden, die der Benachrichtigungsserver eines Clients für die Antwort auf einen Stapel hat, 1 bis 60.",
  "send.dedupe_ttl_secs":
    "Sekunden, in denen dieselbe Benachrichtigung nicht noch einmal an dieselbe fid geht, 1 bis 2592000 (30 Tage).",
  "writes.enabled":
    "Ob sich Nachrichten über HTTP mit einem API-Schlüssel schreiben lassen. Mit false antworten diese Pfade mit 501; gRPC und /v1 betrifft das nicht.",
  "writes.confirm_timeout_ms":
    "Millisekunden, die ein Schreibzugriff darauf wartet, dass seine Nachricht vom Quellknoten ankommt, 0 bis 20000. Danach ist die Antwort 202.",
  "writes.max_queued":
    "Nachrichten, die auf das Netz warten dürfen, 1 bis 1000000. Darüber antworten Schreibzugriffe mit 503.",
  "writes.fid_messages_per_hour":
    "Nachrichten, die ein Nutzer je Stunde über HTTP schreiben darf, über alle Schlüssel und Knoten, 1 bis 1000000; ein Viertel davon auf einmal. Darüber antworten Schreibzugriffe mit 429.",
  "writes.mute_links":
    "Ob Stummschaltungen, die Apps vornehmen, öffentliche Nachrichten des Protokolls sind. Sonst bleiben sie privat bei der App des Schlüsselbesitzers.",
  "stream.enabled":
    "Ob /v2/<name>/stream die Ereignisse von Webhooks sofort an jeden sendet, als Server-Sent Events und über WebSockets.",
  "stream.retention_hours":
    "Stunden, die ein Ereignis nach seiner Übernahme im Index bleibt, 1 bis 168. Eines, das noch nicht an die Webhooks veröffentlicht ist, bleibt länger.",
  "stream.max_connections":
    "Gleichzeitige Streams, 1 bis 100000. Zusammen mit denen der Hub-Ereignisse belegen sie höchstens die Hälfte der Dateien, die der Prozess öffnen darf.",
  "stream.max_connections_per_ip":
    "Gleichzeitige Streams je Client-Adresse, 1 bis 100000. Die Adressen eines IPv6-/64 zählen zusammen.",
  "trending.window_hours": "Stunden, deren Casts die Trend-Rangliste hat, 1 bis 720.",
  "feeds.for_you":
    'feed/for_you in der Form der gehosteten API: "ranked" nach dem, was die tun, denen der Betrachter folgt; "trending" der Trend-Feed. Ein Knoten, der ausgewählten fids folgt, hat den Trend-Feed.',
  "notifications.aggregation_window_secs":
    "Sekunden, in denen Reaktionen auf einen Cast, oder neue Follower, zu einer Benachrichtigung werden, 1 bis 604800 (7 Tage).",
  "net.allow_cidrs":
    'Netze, als "10.0.0.0/8" oder "fd00::/8", die ausgehende Aufrufe erreichen dürfen, obwohl sie nicht öffentlich sind; höchstens 256. Der Besitzer eines Webhooks kann diesen Prozess dann dorthin aufrufen lassen. Loopback-, Link-Local- und Metadaten-Adressen erlaubt nur ein Netz innerhalb ihres Bereichs, etwa "127.0.0.0/8".',
  "net.allow_http":
    "Ob registrierte und aufgerufene URLs einfaches http sein dürfen. Nur für Tests und geschlossene Netze.",
};
