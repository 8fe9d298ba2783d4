// Entry point of the customer portal. Untrusted text never becomes markup.
import '../src/styles/tokens.css';
import '../src/styles/base.css';
import { render } from 'preact';
import { startClock } from '../src/clock.ts';
import { App } from './app.tsx';
import { startFrame } from './frame.ts';
import { startRouter } from './route.ts';
import { startSession } from './session.ts';
// Last, because it adapts the styles of shared components.
import './portal.css';

startClock();
startRouter();
startFrame();
// Loads the strings too, because the session may name the language.
await startSession();

const root = document.getElementById('portal');
if (root !== null) render(<App />, root);
