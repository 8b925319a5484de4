// Readers of every trace format: what comes out of good lines, and where bad lines are named.
#include <gtest/gtest.h>

#include "sim/demo/demo.h"
#include "sim/trace/gavel.h"
#include "sim/trace/muri.h"
#include "sim/trace/openb.h"
#include "sim/trace/own.h"
#include "sim/trace/philly.h"

namespace fairlead::sim {
namespace {

CsvFile csv(const std::string& text) {
  return std::move(*CsvFile::parse("t.csv", text));
}

template <class T>
std::string error_of(const Checked<T>& result) {
  return result ? "no error" : result.error().front().text();
}

TEST(OpenbReader, ReadsPodsOfAllThreeKindsAndTheirModels) {
  const auto pods = read_openb_pods(
      csv("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"
          "cpu,4000,1024,0,0,,LS\nshare,8000,2048,1,460,G2|T4,LS\nwhole,64000,4096,8,1000,,BE\n"));
  ASSERT_TRUE(pods.has_value()) << error_of(pods);
  EXPECT_EQ((*pods)[0].milli(), 0);
  EXPECT_EQ((*pods)[1].milli(), 460);
  EXPECT_EQ((*pods)[1].models, (std::vector<std::string>{"G2", "T4"}));
  EXPECT_EQ((*pods)[2].milli(), 8000);
}

TEST(OpenbReader, TakesListsWithoutModels) {
  const auto pods =
      read_openb_pods(csv("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1000\n"));
  ASSERT_TRUE(pods.has_value()) << error_of(pods);
  EXPECT_TRUE((*pods)[0].models.empty());
}

TEST(OpenbReader, NamesBadValues) {
  EXPECT_EQ(error_of(read_openb_pods(
                csv("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1\nb,-5,1,1,1\n"))),
            "t.csv:3: column cpu_milli: '-5' is out of range; allowed is a whole number from 0 to "
            "1099511627776");
  EXPECT_EQ(
      error_of(read_openb_pods(csv("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1001\n"))),
      "t.csv:2: column gpu_milli: '1001' is out of range; allowed is a whole number from 1 to "
      "1000");
  EXPECT_EQ(
      error_of(read_openb_pods(csv("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,2,500\n"))),
      "t.csv:2: column gpu_milli: '500' is out of range; allowed is a whole number from 1000 "
      "to 1000");
  EXPECT_EQ(error_of(read_openb_nodes(csv("sn,cpu_milli,memory_mib,gpu,model\na,1,1,2,T4\na,1,1,2,"
                                          "T4\n"))),
            "t.csv:3: column sn: node 'a' is there twice; give each node its own name");
  EXPECT_EQ(error_of(read_openb_nodes(csv("sn,cpu_milli,memory_mib,gpu\na,1,1,2\n"))),
            "t.csv:1: column 'model' is missing; the header has: sn, cpu_milli, memory_mib, gpu; "
            "add the column 'model' to every line");
}

TEST(MuriReader, TakesWorkFromIterationsAndSortsBySubmit) {
  const auto jobs = read_muri_jobs(
      csv("job_id,num_gpu,submit_time,iterations,model_name,iteration_time,duration\n"
          "0,1,5000,1000,dqn,490,7\n1,8,1000,10,bert,509,7\n"));
  ASSERT_TRUE(jobs.has_value()) << error_of(jobs);
  EXPECT_EQ((*jobs)[0].name, "job-1");
  // 10 × 509 ms × 1.015 = 5166.35, rounded up; the duration column plays no part.
  EXPECT_EQ((*jobs)[0].work.ms, 5167);
  EXPECT_EQ((*jobs)[1].work.ms, 497'350);
}

TEST(MuriReader, KnowsTheMeasuredStartOverheads) {
  EXPECT_EQ(muri_start_overhead("a2c", 1), seconds(38));
  EXPECT_EQ(muri_start_overhead("vgg16", 32), seconds(10));
  EXPECT_EQ(muri_start_overhead("resnet18", 4), seconds(5));
  EXPECT_EQ(muri_start_overhead("unheard-of", 1), seconds(10));
}

TEST(MuriReader, NamesBadValues) {
  const std::string header = "job_id,num_gpu,submit_time,iterations,model_name,iteration_time\n";
  EXPECT_EQ(error_of(read_muri_jobs(csv(header + "0,0,0,1,a,1\n"))),
            "t.csv:2: column num_gpu: '0' is out of range; allowed is a whole number from 1 to "
            "65536");
  EXPECT_EQ(error_of(read_muri_jobs(csv(header + "0,1,0,1099511627776,a,1048576\n"))),
            "t.csv:2: column iterations: 1099511627776 iterations of 1048576 ms take over 100 "
            "years; state fewer iterations or a shorter iteration_time");
  EXPECT_EQ(error_of(read_muri_jobs(csv(header + "0,1,0,1,a,1\n0,1,0,1,a,1\n"))),
            "t.csv:3: column job_id: job '0' is there twice; give each job its own id");
}

TEST(GavelReader, ReadsJobsAndThroughputs) {
  const auto jobs =
      read_gavel_jobs(csv("job_id,arrival_unit,job_type,scale_factor,total_steps\n7,0.5,A3C,1,100."
                          "5\n3,0.25,A3C,2,9\n"));
  ASSERT_TRUE(jobs.has_value()) << error_of(jobs);
  EXPECT_EQ((*jobs)[0].name, "3");
  EXPECT_DOUBLE_EQ((*jobs)[1].steps, 100.5);
  const auto rates =
      read_gavel_throughputs(csv("worker_type,job_type,scale_factor,steps_per_s\nk80,A3C,1,3.4\n"));
  ASSERT_TRUE(rates.has_value()) << error_of(rates);
  EXPECT_DOUBLE_EQ(rates->at({"k80", "A3C", 1}), 3.4);
  EXPECT_EQ(error_of(read_gavel_throughputs(
                csv("worker_type,job_type,scale_factor,steps_per_s\nk80,A3C,1,1\nk80,A3C,1,2\n"))),
            "t.csv:3: column job_type: 'A3C' on k80 with 1 GPUs is there twice; keep one of the "
            "lines");
}

TEST(PhillyReader, CountsTimeFromTheEarliestJobAndCutsGangs) {
  const auto jobs = read_philly_jobs(csv("timestamp,duration,num_gpus,gpu_time,cluster\n"
                                         "2017-10-09 07:01:55,66.0,1,66.0,vc1\n"
                                         "2017-10-09 07:00:00,10.5,20,210.0,vc2\n"),
                                     8);
  ASSERT_TRUE(jobs.has_value()) << error_of(jobs);
  EXPECT_EQ((*jobs)[0].submit.ms, 0);
  EXPECT_EQ((*jobs)[0].run_time.ms, 10'500);
  EXPECT_EQ((*jobs)[0].tasks, 2);  // 20 = 2 × 8 + 4
  EXPECT_EQ((*jobs)[0].last_gpus, 4);
  EXPECT_EQ(job_milli((*jobs)[0]), 20'000);
  EXPECT_EQ((*jobs)[1].submit.ms, 115'000);
  EXPECT_EQ(
      error_of(read_philly_jobs(
          csv("timestamp,duration,num_gpus,gpu_time,cluster\nyesterday,1,1,1,v\n"), 8)),
      "t.csv:2: column timestamp: 'yesterday' is not a time; write it as 2017-10-09 07:01:55");
}

TEST(OwnTrace, NeedsTwoColumnsOnly) {
  const auto jobs = read_trace(csv("submit_s,duration_s\n10,60\n2.5,0\n"));
  ASSERT_TRUE(jobs.has_value()) << error_of(jobs);
  EXPECT_EQ((*jobs)[0].name, "job-000001");
  EXPECT_EQ((*jobs)[0].submit.ms, 2500);
  EXPECT_EQ((*jobs)[0].run_time.ms, 1);  // nothing runs for no time
  EXPECT_EQ(job_milli((*jobs)[1]), 1000);
}

TEST(OwnTrace, NamesBadValuesAndNearColumns) {
  EXPECT_EQ(error_of(read_trace(csv("submit_s,duration_s,tasks,gpus\n1,1,65536,1024\n"))),
            "t.csv:2: column tasks: 65536 tasks of 1024 GPUs are more than 16777216 GPUs; "
            "lower one of them");
  EXPECT_EQ(error_of(read_trace(csv("submit_s,duration_s,gpu\n1,1,1\n"))),
            "t.csv:1: column 'gpu' is not known; did you mean 'gpus'?");
  EXPECT_EQ(
      error_of(read_trace(csv("submit_s,duration_s,gpu_portion\n1,1,1\n"))),
      "t.csv:2: column gpu_portion: '1' is no part of a GPU; allowed is 0.001 to 0.999; leave "
      "it empty for whole GPUs");
  EXPECT_EQ(error_of(read_trace(csv("submit_s,duration_s,gpu_portion,gpu_memory_mib\n1,1,.5,9\n"))),
            "t.csv:2: column gpu_memory_mib: gpu_portion is stated too; leave one of them empty");
  EXPECT_EQ(error_of(read_trace(csv("submit_s,duration_s,kind\n1,1,game\n"))),
            "t.csv:2: column kind: 'game' is not a kind; allowed are training, workspace, "
            "distributed, inference");
  EXPECT_EQ(error_of(read_trace(csv("submit_s\n1\n"))),
            "t.csv:1: column 'duration_s' is missing; the header has: submit_s; add the column "
            "'duration_s' to every line");
  EXPECT_EQ(error_of(read_trace(csv("name,submit_s,duration_s\na,1,1\na,2,1\n"))),
            "t.csv:3: column name: job 'a' is there twice; give each job its own name");
}

TEST(OwnTrace, ReadsBackWhatItPrints) {
  GeneratorOptions options = demo_options(3);
  options.jobs = 200;
  options.sizes.push_back({12'000, 10});  // 8 + 4
  const std::string text = trace_text(generate_jobs(options));
  const auto again = read_trace(csv(text));
  ASSERT_TRUE(again.has_value()) << error_of(again);
  EXPECT_EQ(trace_text(*again), text);
}

}  // namespace
}  // namespace fairlead::sim
