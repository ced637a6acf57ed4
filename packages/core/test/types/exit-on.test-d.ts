// The end of a process by signals.
import { createSystem, exitOn, type SystemReport } from '@troupe/core';

const system = createSystem();
using _exit = exitOn(system, ['SIGTERM', 'SIGINT'], { withinMs: 5_000 });
const stopped: Promise<SystemReport> = system.whenStopped;
void stopped;
// @ts-expect-error there is no such signal
exitOn(system, ['SIGTERN']);
// @ts-expect-error the name of a signal alone is no list
exitOn(system, 'SIGTERM');
