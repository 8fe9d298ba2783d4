// Entry point: renders the console into the document. Untrusted text never becomes markup.
import './styles/tokens.css';
import './styles/base.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { base, prefixLinks } from './base.ts';
import { addDrawings } from './components/icon.tsx';
import { consoleDrawings } from './console-icons.ts';
import { startClock } from './clock.ts';
import { english } from './english.ts';
import { startKeys } from './shortcuts.ts';
import { startRouter } from './router.ts';
import { startSession } from './session.ts';
import { startStream } from './stream.ts';
import { startTheme } from './theme.ts';
import { setWords } from './words.ts';

setWords(english);
addDrawings(consoleDrawings);
if (base !== '') prefixLinks();
startTheme();
startClock();
startRouter();
startKeys();
startStream();
void startSession();

const root = document.getElementById('console');
if (root !== null) render(<App />, root);
