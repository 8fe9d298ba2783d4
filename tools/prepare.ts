// Runs after `npm ci`: builds the console. Who leaves out the development dependencies has nothing to build
// it with, and gets a service that works without.
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

if (isInstalled('vite')) {
  const { build } = await import('vite');
  await build({ root: join(root, 'console'), logLevel: 'warn' });
} else {
  console.log('The console is not built: that needs the development dependencies.');
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
