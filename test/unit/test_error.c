#include "test/lib/check.h"
#include <paddock.h>
#include <stdio.h>
#include <string.h>

#define EACH(name, code, class, text) {name, #name, text},
static const struct {
    int code;
    const char *name;
    const char *text;
} errors[] = {PDK_ERRORS(EACH)};
#undef EACH

enum { N_ERRORS = sizeof errors / sizeof *errors };

static void codes_are_negative_and_unique(void)
{
    for (int i = 0; i < N_ERRORS; i++) {
        CHECK(errors[i].code < 0);
        for (int j = 0; j < i; j++)
            CHECK(errors[i].code != errors[j].code);
    }
}

static void every_code_has_its_name_and_text(void)
{
    for (int i = 0; i < N_ERRORS; i++) {
        CHECK_STR(pdk_strerror(errors[i].code), errors[i].text);
        CHECK_STR(pdk_strerrorname(errors[i].code), errors[i].name);
        CHECK(errors[i].text[strlen(errors[i].text) - 1] != '.');
    }
    CHECK_STR(pdk_strerror(0), "success");
    CHECK_STR(pdk_strerrorname(0), "PDK_OK");
}

static void a_number_that_is_no_code_has_words_too(void)
{
    CHECK_STR(pdk_strerror(-12345), "unknown error");
    CHECK_STR(pdk_strerrorname(7), "PDK_E?");
    CHECK(!pdk_err_retriable(7) && !pdk_err_unknown(7) && !pdk_err_fatal(7));
}

static void a_caller_is_answered_at_most_one_of_three_questions_with_yes(void)
{
    for (int i = 0; i < N_ERRORS; i++) {
        int code = errors[i].code;
        CHECK(pdk_err_retriable(code) + pdk_err_unknown(code) + pdk_err_fatal(code) <= 1);
    }
    CHECK(pdk_err_retriable(PDK_EBUSY) && pdk_err_unknown(PDK_EUNKNOWN) && pdk_err_fatal(PDK_ECLOSED));
    CHECK(!pdk_err_retriable(0) && !pdk_err_unknown(0) && !pdk_err_fatal(0));
}

static void the_version_is_the_headers(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", PDK_VERSION_MAJOR, PDK_VERSION_MINOR, PDK_VERSION_PATCH);
    CHECK_STR(pdk_version(), text);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"codes are negative and unique", codes_are_negative_and_unique},
        {"every code has its name and text", every_code_has_its_name_and_text},
        {"a number that is no code has words, too", a_number_that_is_no_code_has_words_too},
        {"a caller is answered at most one of three questions with yes",
         a_caller_is_answered_at_most_one_of_three_questions_with_yes},
        {"the version is the headers'", the_version_is_the_headers},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "error", .tests = tests});
}
