/*
 * Runs program.js in XS, as Moddable's tools would have preloaded it: a first machine loads all modules, and is then shared as
 * if it were in flash. A second machine takes its memory from RAM, and it alone is measured.
 *
 * The arguments are numbers in the file arguments.txt: the bytes of chunks, and the slots of the heap, which do not grow;
 * 0 and 0 for as much as there is.
 */
#include "xsAll.h"
#include "xsScript.h"
#include "xs.h"

/* The timer of the board runs at 25 MHz. QEMU's -icount shift=0 takes a nanosecond for each instruction. */
#define TIMER ((volatile uint32_t*)0x40000000)
#define INSTRUCTIONS_PER_TICK 40
#define PAINT 0xdeadbeef
#define MOST_STACK (64 * 1024)

extern uint32_t stack_top;

static double instructions(void)
{
	static uint32_t last = 0;
	static double total = 0;
	uint32_t now = 0xffffffff - TIMER[1];
	total += (double)INSTRUCTIONS_PER_TICK * (uint32_t)(now - last);
	last = now;
	return total;
}

/* Fills what is free of both stacks, so that end() sees how far they grew. */
static void paint(txMachine* the)
{
	uint32_t here;
	for (uint32_t* word = &stack_top - MOST_STACK / 4; word < &here - 16; word++)
		*word = PAINT;
	for (uint32_t* word = (uint32_t*)the->stackBottom; word < (uint32_t*)(the->stack - 4); word++)
		*word = PAINT;
}

static int unpainted(void* from, void* to)
{
	uint32_t* word = from;
	while (word < (uint32_t*)to && *word == PAINT)
		word++;
	return (char*)to - (char*)word;
}

static double began;

/* Collects garbage, and starts measuring. */
static void begin(txMachine* the)
{
	fxCollectGarbage(the);
	the->peakHeapCount = the->currentHeapCount;
	the->peakChunksSize = the->currentChunksSize;
	paint(the);
	began = instructions();
}

/* Prints what was measured since begin(). */
static void end(txMachine* the, const char* name)
{
	double took = instructions() - began;
	int peakSlots = the->peakHeapCount, peakChunks = the->peakChunksSize;
	int stack = unpainted(the->stackBottom, the->stackTop);
	int cStack = unpainted(&stack_top - MOST_STACK / 4, &stack_top);
	fxCollectGarbage(the);
	printf("{\"step\":\"%s\",\"instructions\":%.0f,\"slots\":%d,\"peakSlots\":%d,\"chunks\":%d,\"peakChunks\":%d,"
		"\"stack\":%d,\"cStack\":%d}\n", name, took, (int)the->currentHeapCount, peakSlots, (int)the->currentChunksSize,
		peakChunks, stack, cStack);
}

/* start() and stop(name) of program.js */
static void start(xsMachine* the)
{
	begin(the);
}

static void stop(xsMachine* the)
{
	char name[80]; /* of its own, since strings move */
	double now = instructions();
	snprintf(name, sizeof(name), "%s", xsToString(xsArg(0)));
	began += instructions() - now;
	end(the, name);
}

void fxAbort(txMachine* the, int status)
{
	printf("XS ended: %s\n", status == XS_NOT_ENOUGH_MEMORY_EXIT ? "out of memory"
		: status == XS_STACK_OVERFLOW_EXIT ? "stack overflow"
		: status == XS_UNHANDLED_EXCEPTION_EXIT ? fxToString(the, &mxException)
		: "for another reason");
	exit(status);
}

/* Modules are named by their files, which lie in one folder. */
txID fxFindModule(txMachine* the, txSlot* realm, txID importer, txSlot* specifier)
{
	char name[C_PATH_MAX];
	fxToStringBuffer(the, specifier, name, sizeof(name));
	return fxNewNameC(the, strncmp(name, "./", 2) ? name : name + 2);
}

void fxLoadModule(txMachine* the, txSlot* module, txID id)
{
	txParser parser;
	txParserJump jump;
	txScript* script = NULL;
	FILE* file = fopen(fxGetKeyName(the, id), "r");
	fxInitializeParser(&parser, the, the->parserBufferSize, the->parserTableModulo);
	parser.firstJump = &jump;
	if (setjmp(jump.jmp_buf) == 0 && file) {
		parser.path = fxNewParserSymbol(&parser, fxGetKeyName(the, id));
		fxParserTree(&parser, file, (txGetter)fgetc, 0, NULL);
		fxParserHoist(&parser);
		fxParserBind(&parser);
		script = fxParserCode(&parser);
	}
	fxTerminateParser(&parser);
	if (file)
		fclose(file);
	if (script)
		fxResolveModule(the, module, id, script, NULL, NULL);
}

void fxQueuePromiseJobs(txMachine* the)
{
	the->promiseJobs = 1;
}

/* Shares a machine, and makes its chunks stay where they are: a collector of garbage moves those that know where they end. */
static void share(txMachine* the)
{
	fxShareMachine(the);
	for (txBlock* block = the->firstBlock; block; block = block->nextBlock) {
		txByte* next;
		for (txByte* chunk = (txByte*)(block + 1); chunk < block->current; chunk = next) {
			next = ((txChunk*)chunk)->temporary;
			((txChunk*)chunk)->temporary = NULL;
		}
	}
}

int main(void)
{
	int chunks = 0, slots = 0;
	FILE* arguments = fopen("arguments.txt", "r");
	if (!arguments || fscanf(arguments, "%d %d", &chunks, &slots) != 2)
		return 98;
	fclose(arguments);
	TIMER[2] = 0xffffffff;
	TIMER[1] = 0xffffffff;
	TIMER[0] = 1;
	instructions();

	xsCreation flash = { 1024 * 1024, 256 * 1024, 32 * 1024, 4096, 2048, 4096, 256, 127, 127, 256 * 1024, 1993 };
	xsMachine* root = xsCreateMachine(&flash, "flash", NULL);
	xsBeginHost(root);
	{
		xsMachine* the = root;
		xsTry {
			begin(root);
			xsAwaitImport("hub-protocol.js", XS_IMPORT_NAMESPACE);
			end(root, "load from source");
			xsAwaitImport("program.js", XS_IMPORT_NAMESPACE);
		}
		xsCatch {
			printf("while loading: %s\n", xsToString(xsException));
			exit(96);
		}
	}
	xsEndHost(root);
	fxRunPromiseJobs(root);
	share(root);

	xsCreation ram = { 2 * 1024 * 1024, 256 * 1024, 64 * 1024, 1024, 1024, 64, 16, 127, 127, 8192, 1993 };
	if (chunks) {
		ram.initialChunkSize = chunks;
		ram.initialHeapCount = slots;
		ram.incrementalChunkSize = 0;
		ram.incrementalHeapCount = 0;
	}
	xsMachine* machine = xsCloneMachine(&ram, root, "ram", NULL);
	xsBeginHost(machine);
	{
		xsVars(1);
		xsMachine* the = machine;
		xsTry {
			xsVar(0) = xsNewObject();
			xsResult = xsNewHostFunction(start, 0);
			xsSet(xsVar(0), xsID("start"), xsResult);
			xsResult = xsNewHostFunction(stop, 1);
			xsSet(xsVar(0), xsID("stop"), xsResult);
			xsSet(xsGlobal, xsID("host"), xsVar(0));
			begin(machine);
			xsResult = xsAwaitImport("program.js", XS_IMPORT_DEFAULT);
			end(machine, "load, preloaded");
			xsCallFunction0(xsResult, xsUndefined);
		}
		xsCatch {
			printf("exception: %s\n", xsToString(xsException));
			exit(97);
		}
	}
	xsEndHost(machine);
	puts("done");
	return 0;
}
