// The console's first line: puts the page into the document. It never writes markup from text.
import './styles/tokens.css';
import './styles/base.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { startClock } from './clock.ts';
import { startKeys } from './keys.ts';
import { startRouter } from './router.ts';
import { startSession } from './session.ts';
import { startStream } from './stream.ts';
import { startTheme } from './theme.ts';

startTheme();
startClock();
startRouter();
startKeys();
startStream();
void startSession();

const home = document.getElementById('console');
if (home !== null) render(<App />, home);
