/* Bytes on the channel between the processes of `paddock lock`: a note that can be used, or the end of the channel. */
#include "cli/run/channel.h"
#include "test/fuzz/fuzz.h"
#include <sys/socket.h>
#include <unistd.h>

const char pdk__fuzz_name[] = "note";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    struct pdk__cli_note note;
    MUST(pdk__cli_channel_pair(ends) == 0);
    MUST(send(ends[0], data, size, MSG_NOSIGNAL) == (ssize_t)size);
    if (pdk__cli_channel_receive(ends[1], &note) == 1) {
        MUST(size == sizeof note && note.kind <= NOTE_LEAVE);
        MUST(memchr(note.text, '\0', sizeof note.text) != NULL);
        pdk__cli_channel_send(ends[1], &note);
        struct pdk__cli_note again;
        MUST(pdk__cli_channel_receive(ends[0], &again) == 1 && again.kind == note.kind && again.lost == note.lost);
    }
    close(ends[0]);
    close(ends[1]);
    return 0;
}
