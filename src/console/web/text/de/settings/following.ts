export const FOLLOWING: Readonly<Record<string, string>> = {
  "upstream.url":
    'Knoten, dem über gRPC gefolgt wird, als "http://host:3383" oder "https://host:3383"; leer folgt keinem. Höchstens 2048 Zeichen. Nachrichten, die Clients hier einreichen, gehen dann an ihn weiter. Mit https muss der Host ein Name sein, keine Adresse, und die Variable GRPC_DEFAULT_SSL_ROOTS_FILE_PATH kann eine Datei mit Zertifizierungsstellen nennen, denen vertraut wird.',
  "upstream.urls":
    "Knoten, denen gefolgt wird, statt upstream.url, was eine Liste mit einem ist: höchstens 16, jeder wie in upstream.url. Einem wird jeweils gefolgt; die anderen werden alle 10 Sekunden nach ihrem neuesten Block gefragt und springen ein, wenn er endet, stockt oder lügt.",
  "upstream.username":
    "Benutzer für Nachrichten, die an den ersten der Knoten weitergehen, wenn er einen verlangt (Basic); dazu gehört ein Passwort. Kein anderer Knoten bekommt ihn, und Lesezugriffe brauchen keinen. Höchstens 256 druckbare ASCII-Zeichen ohne Doppelpunkt.",
  "upstream.password":
    "Passwort für weitergegebene Nachrichten, höchstens 256 druckbare ASCII-Zeichen. Es ist verdeckt, wo immer Einstellungen gezeigt werden. Über http:// wird es unverschlüsselt gesendet.",
  "upstream.fids":
    "fids, denen gefolgt wird, als [2, 3], höchstens 10000; leer folgt allen. Von anderen fids, die diese erwähnen, wird nur das Profil gespeichert.",
  "upstream.fid_file":
    "Datei mit fids, denen gefolgt wird, für längere Listen: Zahlen, durch Zeilenenden oder Kommas getrennt, Kommentare nach #, höchstens 1 MiB. Ein relativer Pfad beginnt im Arbeitsverzeichnis. Nicht zusammen mit fids.",
  "upstream.ready_lag_secs":
    "Sekunden, die der Index hinter dem Quellknoten liegen darf, 1 bis 86400. Darüber antworten /ready und signierte Operationen mit 503, weil eine Custody-Adresse den Besitzer gewechselt haben kann; Lesezugriffe laufen weiter.",
  "upstream.concurrency":
    "Gleichzeitige Aufrufe beim Füllen des Index, 0 bis 256; 0 macht 32 zu einem Knoten in einem privaten Netz und 4 zu einem öffentlichen.",
  "upstream.max_calls_per_sec":
    "Aufrufe je Sekunde an jeden Knoten, 0 bis 10000; 0 setzt für einen Knoten in einem privaten Netz keine Grenze und 20 für einen öffentlichen.",
  "upstream.contact":
    'Wie die Betreiber der Quellknoten dich erreichen, etwa "ops@host.example": Es steht im User-Agent aller Aufrufe. Höchstens 128 druckbare ASCII-Zeichen ohne Klammern.',
  "upstream.discover":
    "Ob auch Knoten gefragt werden, die der Gossip der Quellknoten ankündigt, einer je Minute, und ob ihnen daneben gefolgt wird, höchstens 8: Einer aus den Einstellungen muss ihren Stand haben, ihre Blöcke müssen signiert sein, und von ihnen wird nichts gefüllt oder bestätigt.",
  "upstream.bulk_from":
    "Hosts öffentlicher Knoten, deren Betreiber zugestimmt haben, dass du aus ihnen einen Index des ganzen Netzes füllst, höchstens 16; `serve --accept-load` nennt alle. Anderen öffentlichen Knoten wird gefolgt, aber alle fids aus ihnen zu füllen wird abgelehnt.",
  "upstream.verify_threads":
    "Threads, die beim Füllen und bei `svc import` Nachrichten prüfen, 0 bis 64; 0 startet einen je Kern, höchstens 16.",
  "trust.level":
    'Was am gefolgten Netz geprüft wird: "blocks" prüft, dass seine Validatoren jeden Block signiert haben, bevor er gilt, "roots" vergleicht außerdem den Index mit dem Zustand, den sie signiert haben, "node" vertraut dem Quellknoten. Einem Knoten ohne Zertifikate (einem anderen svc) und einem Netz, dessen Validatoren nicht bekannt sind, wird wie mit "node" gefolgt; ein Index einiger fids (upstream.fids) verhält sich wie mit "blocks".',
  "trust.roots":
    'Wie bald mit "roots" die Wurzeln geänderter Konten berechnet werden: "sample" verbraucht höchstens 5 % eines Kerns, und was warten muss, wird später verglichen, "full" berechnet jede sofort. Beim ersten Mal, für alle Konten, ist es ein Fünftel oder die Hälfte eines Kerns.',
  "trust.validators_file":
    "Datei mit Validatoren, die die dieser Version ersetzt, höchstens 1 MiB: die validators.toml des Referenzknotens, oder JSON. Ein relativer Pfad beginnt im Arbeitsverzeichnis. Sie wird bei jeder Verbindung neu gelesen, und nach einem Block, dessen Validatoren nicht bekannt sind.",
  "trust.events":
    'Wie viele Knoten aus upstream.urls ein On-Chain-Ereignis einer fid haben müssen, bevor ihre Custody-Adresse oder ein Schlüssel von ihr etwas entscheidet: Kein Block bindet, was diese Ereignisse sagen. "two", wo die Einstellungen mehr als einen Knoten nennen; mit einem einzigen, und mit "one", wird dem Quellknoten geglaubt. Bis ein zweiter Knoten eine Änderung bestätigt hat, antworten signierte Operationen der fid mit 503. "rpc", nur im Mainnet, fragt stattdessen die Register von Optimism unter chain.op_rpc_url, je fid höchstens einmal in der Minute, auch mit einem einzigen Knoten.',
  "trust.on_unknown_set":
    'Wenn unbekannte Validatoren einen Shard signieren: "stop" übernimmt nichts davon, "warn" folgt ihm anhand der Hashes seiner Blöcke und prüft das inzwischen Übernommene, sobald die Validatoren bekannt sind.',
  "trust.on_mismatch":
    'Wenn der Index den Zustand haben müsste, den die Validatoren signiert haben, und einen anderen hat: "serve" antwortet wie zuvor, während Konten repariert werden, "stop" lässt außerdem /ready mit 503 antworten, sodass ein Load Balancer den Knoten herausnimmt, bis der Zustand wieder nachgewiesen ist.',
  "trust.serve_unproven":
    "Ob /ready mit 200 antwortet, bevor nachgewiesen ist, dass der Index den Zustand hat, den die Validatoren signiert haben, und solange er es nicht ist. Mit false antwortet es bis dahin mit 503, wie es /ready?for=proof immer tut. In Mainnet und Testnet ist noch nichts nachgewiesen: siehe docs/follow-the-network.md.",
  "protocol.network":
    'Netz, dessen Nachrichten angenommen werden, "mainnet", "testnet" oder "devnet"; Nachrichten anderer werden abgelehnt.',
  "protocol.engine_versions":
    'Wann Versionen der Netzregeln in Kraft treten, für die dieses Programm kein Datum hat, als Version und Unix-Sekunden: ["21=1790000000"]. Höchstens 64. Sie ersetzen die Daten des Programms.',
  "channels.protocol_names":
    'Was Lesezugriffe von einem Kanal zeigen, der im Protokoll registriert ist und den eine importierte Registerdatei nennt: "win" den registrierten Kanal, "lose" den der Datei, ohne die Rollen, Follower und verborgenen Casts des registrierten. Jeder kann einen freien Namen registrieren.',
  "chain.l1_rpc_url":
    "JSON-RPC-Endpunkt von Ethereum (http oder https), um eingereichte Nachweise von ENS-Namen und Basenames zu prüfen; leer lehnt solche Nachweise als nicht verfügbar ab. Höchstens 2048 Zeichen. Zugangsdaten, Pfad und Query sind verdeckt, wo immer Einstellungen gezeigt werden.",
  "chain.op_rpc_url":
    "JSON-RPC-Endpunkt von Optimism (http oder https), um Signaturen von Contract-Wallets zu prüfen: von Anmeldungen und signierten Operationen; leer lehnt sie ab. Er wird nur nach Adressen gefragt, die die Custody- oder eine Auth-Adresse sind. Höchstens 2048 Zeichen, verdeckt wie der obige.",
  "chain.base_rpc_url":
    "JSON-RPC-Endpunkt von Base (http oder https) für die Guthaben von Nutzern und Adressen und für Prüfungen von Abos unter /v2/stp; leer für keinen. Höchstens 2048 Zeichen, verdeckt wie die obigen.",
  "chain.tokens":
    'ERC-20-Contracts auf Base, deren Guthaben neben Ether gezeigt werden, höchstens 20, etwa "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" für USDC.',
};
