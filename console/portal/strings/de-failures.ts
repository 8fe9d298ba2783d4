// Why deliveries fail, and what customers can do about it, in German.
import type { Strings } from './en.ts';

export const failures: Strings['failures'] = {
  dns: {
    title: 'Der Hostname wurde nicht gefunden',
    fix: 'Prüfen Sie die URL auf Tippfehler, und ob der Hostname einen öffentlichen DNS-Eintrag hat.',
  },
  refused: {
    title: 'Ihr Server hat die Verbindung abgelehnt',
    fix: 'Prüfen Sie, ob der Server läuft, ob der Port in der URL stimmt, und ob seine Firewall Anfragen durchlässt.',
  },
  tls: {
    title: 'Es kam keine sichere Verbindung zustande',
    fix: 'Prüfen Sie das Zertifikat: Es kann abgelaufen oder für einen anderen Namen ausgestellt sein, oder ihm fehlen Zwischenzertifikate.',
  },
  timeout: {
    title: 'Ihr Server hat nicht rechtzeitig geantwortet',
    fix: 'Antworten Sie zuerst mit 200, und arbeiten Sie danach weiter, zum Beispiel mit einer Warteschlange. Prüfen Sie auch, ob eine Firewall die Anfragen verwirft.',
  },
  reset: {
    title: 'Ihr Server hat die Verbindung geschlossen',
    fix: 'Suchen Sie in Ihrem Log nach einem Absturz oder Neustart, oder nach einem Proxy, der zu früh aufgibt. Die Anfrage wurde möglicherweise verarbeitet: Erkennen Sie doppelte an der `webhook-id`.',
  },
  too_large: {
    title: 'Die Header der Antwort sind zu groß',
    fix: 'Senden Sie in der Antwort weniger und kürzere Header. Cookies sind nicht nötig.',
  },
  redirect: {
    title: 'Ihr Server leitet auf eine andere URL weiter',
    fix: 'Weiterleitungen wird nicht gefolgt. Ändern Sie die URL des Endpunkts auf die endgültige; oft fehlt nur `https` oder ein Schrägstrich am Ende.',
  },
  blocked: {
    title: 'Die Adresse ist nicht erlaubt',
    fix: 'Der Hostname führt zu einer privaten oder reservierten Adresse. Verwenden Sie eine, die aus dem Internet erreichbar ist.',
  },
  protocol: {
    title: 'Die Antwort ist kein gültiges HTTP',
    fix: 'Prüfen Sie Schema und Port der URL: `http` auf einem `https`-Port kann die Ursache sein.',
  },
  expired: {
    title: 'Die Zustellung ist abgelaufen',
    fix: 'Sie wartete noch am Ende der Zeit, für die sie aufbewahrt wird. Senden Sie sie erneut, wenn Sie sie noch brauchen.',
  },
  gone: {
    title: 'Ihr Server hat sich abgemeldet',
    fix: 'Er hat mit 410 (Gone) geantwortet, wodurch der Endpunkt entfernt wird. Fügen Sie ihn neu hinzu, wenn das ein Versehen war.',
  },
  cancelled: {
    title: 'Der Endpunkt wurde entfernt',
    fix: 'Die Zustellung wartete noch, als ihr Endpunkt entfernt wurde, und wurde deshalb nicht gesendet.',
  },
  '400': {
    title: 'Ihr Server hat die Anfrage abgelehnt (400)',
    fix: 'Prüfen Sie, was Ihr Code vom Body erwartet. Oft steht in der Antwort, was nicht stimmt.',
  },
  '401': {
    title: 'Ihr Server verlangt eine Anmeldung (401)',
    fix: 'Nehmen Sie Anfragen unter dieser URL ohne Anmeldung an, und prüfen Sie stattdessen ihre Signatur.',
  },
  '403': {
    title: 'Ihr Server verbietet die Anfrage (403)',
    fix: 'Wenn Ihr Code die Signatur ablehnt, prüfen Sie, ob er den aktuellen Signaturschlüssel hat. Prüfen Sie sonst die Regeln Ihrer Firewall.',
  },
  '404': {
    title: 'Unter dieser URL gibt es nichts (404)',
    fix: 'Prüfen Sie den Pfad der URL auf Tippfehler, und ob die Version mit dieser Route in Betrieb ist.',
  },
  '405': {
    title: 'Die URL nimmt kein POST an (405)',
    fix: 'Nehmen Sie unter diesem Pfad POST-Anfragen an. Prüfen Sie, ob am Ende ein Schrägstrich fehlt oder zu viel ist.',
  },
  '413': {
    title: 'Der Body ist Ihrem Server zu groß (413)',
    fix: 'Erhöhen Sie die Grenze Ihres Servers und des Proxys davor auf 1 MiB.',
  },
  '415': {
    title: 'Ihr Server nimmt den Inhaltstyp nicht an (415)',
    fix: 'Nehmen Sie `application/json` an.',
  },
  '429': {
    title: 'Ihr Server begrenzt die Zahl der Anfragen (429)',
    fix: 'Erhöhen Sie die Grenze für diese URL, oder geben Sie mit `Retry-After` an, wann die nächste Anfrage willkommen ist.',
  },
  '502': {
    title: 'Der Proxy erreicht Ihren Server nicht (502)',
    fix: 'Prüfen Sie, ob der Server hinter dem Proxy läuft, und welche Adresse der Proxy verwendet.',
  },
  '503': {
    title: 'Ihr Server ist nicht verfügbar (503)',
    fix: 'Er ist überlastet, startet gerade oder wird gewartet. Warten Sie, oder erhöhen Sie seine Kapazität.',
  },
  '504': {
    title: 'Ihr Server hat seinem Proxy nicht rechtzeitig geantwortet (504)',
    fix: 'Antworten Sie zuerst mit 200, und arbeiten Sie danach weiter.',
  },
  '4xx': {
    title: 'Ihr Server hat die Anfrage abgelehnt',
    fix: 'Oft steht der Grund in der Antwort. Suchen Sie in Ihrem Log nach der `webhook-id`.',
  },
  '5xx': {
    title: 'In Ihrem Server ist ein Fehler aufgetreten',
    fix: 'Suchen Sie in Ihrem Log nach der `webhook-id` zur Zeit des Versuchs, und beheben Sie den Fehler.',
  },
};
